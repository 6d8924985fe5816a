package front

import (
	"strings"

	"github.com/b650d4bf/gateway/providers"
)

// idempotencyKey is the header by which clients tell a repeated request from a
// new one.
const idempotencyKey = "Idempotency-Key"

// createBatch serves POST /v1/batches.
func (c *call) createBatch() error {
	req := new(providers.BatchRequest)
	if err := c.readRequest(req); err != nil {
		return err
	}
	req.IdempotencyKey = c.r.Header.Get(idempotencyKey)
	out, err := c.backend.CreateBatch(c.r.Context(), req, &c.o)
	if err != nil {
		return err
	}
	return writeMade(c, &out.Meta, out.AppendJSON)
}

// listBatches serves GET /v1/batches.
func (c *call) listBatches() error {
	q, err := c.listQuery()
	if err != nil {
		return err
	}
	out, err := c.backend.ListBatches(c.r.Context(), q, &c.o)
	if err != nil {
		return err
	}
	return writeMade(c, &out.Meta, out.AppendJSON)
}

// showBatch serves GET /v1/batches/{id}.
func (c *call) showBatch() error {
	if strings.Contains(c.rest, "/") {
		return errNoRoute()
	}
	out, err := c.backend.GetBatch(c.r.Context(), c.rest, &c.o)
	if err != nil {
		return err
	}
	return writeMade(c, &out.Meta, out.AppendJSON)
}

// cancelBatch serves POST /v1/batches/{id}/cancel.
func (c *call) cancelBatch() error {
	if err := c.skipBody(); err != nil {
		return err
	}
	out, err := c.backend.CancelBatch(c.r.Context(), c.rest, &c.o)
	if err != nil {
		return err
	}
	return writeMade(c, &out.Meta, out.AppendJSON)
}

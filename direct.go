package gateway

import (
	"github.com/b650d4bf/gateway/providers/anthropic"
	"github.com/b650d4bf/gateway/providers/google"
	"github.com/b650d4bf/gateway/providers/openai"
)

// direct returns the providers beside the platform: services of model vendors,
// and servers that speak the OpenAI schema. Catalog entries lead to them.
func (c *clientConfig) direct() []Provider {
	p := &c.platform
	return []Provider{
		google.New(google.Config{
			Transport: p.Transport, ConnectTimeout: p.ConnectTimeout, Models: p.Models, MaxResponse: p.MaxResponse,
			CheckTools: p.CheckTools, Signatures: p.Signatures, MaxInlineBytes: p.MaxInlineBytes,
		}),
		anthropic.New(anthropic.Config{
			Transport: p.Transport, ConnectTimeout: p.ConnectTimeout, Models: p.Models, MaxResponse: p.MaxResponse, BetaFeatures: p.BetaFeatures,
		}),
		openai.New(openai.Config{
			Transport: p.Transport, ConnectTimeout: p.ConnectTimeout, Models: p.Models, MaxResponse: p.MaxResponse,
		}),
		openai.New(openai.Config{
			Compatible: true, Transport: p.Transport, ConnectTimeout: p.ConnectTimeout, Models: p.Models, MaxResponse: p.MaxResponse,
		}),
	}
}

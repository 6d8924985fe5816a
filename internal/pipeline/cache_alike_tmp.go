package pipeline

type alikeStub struct{}

var alike alikeStub

func (alikeStub) Fits(text string, limit int) bool              { return len(text) <= limit }
func (alikeStub) Conflict(a, b string) (reason string, ok bool) { return "", false }

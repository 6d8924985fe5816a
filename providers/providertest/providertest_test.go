package providertest_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"cloud.google.com/go/auth"

	"github.com/b650d4bf/gateway/providers"
	"github.com/b650d4bf/gateway/providers/providertest"
	"github.com/b650d4bf/gateway/providers/vertex"
	"github.com/b650d4bf/gateway/providers/vertex/vertextest"
)

// token is a token that is never renewed.
type token string

func (t token) Token(context.Context) (*auth.Token, error) {
	return &auth.Token{Value: string(t), Type: "Bearer"}, nil
}

func TestFakePasses(t *testing.T) {
	providertest.Run(t, func(*testing.T) (providers.Provider, *providers.Target) {
		return &fake{}, &providers.Target{Provider: "fake", Model: "model-1", Token: token("the-token")}
	})
}

// The provider for Vertex AI passes with models of each generation: without
// signatures, with signatures that may be missing, and with strict ones.
func TestVertexPasses(t *testing.T) {
	for _, model := range []string{"gemini-2.5-flash", "gemini-3.1-flash-lite", "gemini-3.8-flash"} {
		t.Run(model, func(t *testing.T) {
			providertest.Run(t, func(t *testing.T) (providers.Provider, *providers.Target) {
				platform := vertextest.New(vertextest.WithToken("the-token"))
				t.Cleanup(platform.Close)
				t.Cleanup(func() {
					if n := platform.SentinelUses(); n > 0 {
						t.Errorf("%d signatures were lost and stood in for", n)
					}
				})
				return vertex.New(vertex.Config{Transport: platform.Transport()}), &providers.Target{
					Provider: "vertex-ai", Model: model, Region: "global", ProjectID: "p", Token: token("the-token"),
				}
			})
		})
	}
}

// faultVariable names the fault of the fake in a process of its own.
const faultVariable = "PROVIDERTEST_FAULT"

// TestFaulty fails, as it should; TestTheSuiteFindsFaults runs it.
func TestFaulty(t *testing.T) {
	fault := os.Getenv(faultVariable)
	if fault == "" {
		t.Skip("runs in a process of its own")
	}
	providertest.Run(t, func(*testing.T) (providers.Provider, *providers.Target) {
		return &fake{fault: fault}, &providers.Target{Provider: "fake", Model: "model-1", Token: token("the-token")}
	})
}

// Each fault fails the test that is about it.
func TestTheSuiteFindsFaults(t *testing.T) {
	for fault, test := range map[string]string{
		faultSilent:      "a_question_is_answered_with_text",
		faultNoRole:      "a_stream_is_well_formed",
		faultEndMoves:    "a_stream_is_well_formed",
		faultNoFinish:    "a_stream_is_well_formed",
		faultEarlyUsage:  "a_stream_is_well_formed",
		faultOtherShape:  "a_stream_has_the_shape_of_the_whole_answer",
		faultSignature:   "streamed_tools_round_trip_through_stored_messages",
		faultSameIDs:     "tools_round_trip_through_stored_messages",
		faultPlainError:  "a_refusal_is_an_error_that_says_who_refused",
		faultLateRefusal: "a_refusal_is_an_error_that_says_who_refused",
		faultToken:       "a_refusal_is_an_error_that_says_who_refused",
		faultNameless:    "a_refusal_is_an_error_that_says_who_refused",
		faultDeaf:        "a_request_that_is_not_for_sending_is_refused",
		faultCloseTwice:  "a_stream_closes_twice",
		faultEndless:     "a_stream_closes_twice",
		faultGreedy:      "request_and_target_stay_as_they_were",
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFaulty$")
			cmd.Env = append(os.Environ(), faultVariable+"="+fault)
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "--- FAIL: TestFaulty/"+test) {
				t.Errorf("%s did not fail: %v\n%s", test, err, out)
			}
		})
	}
}

package cli

import (
	"errors"

	"github.com/b650d4bf/gateway"
)

// hints are what to do about an error at a command line, where the message, which
// is for programs, does not say.
var hints = map[gateway.Code]string{
	gateway.ErrAuthentication:   "gcloud auth application-default login, or --token, --credentials FILE, or --emulator to try without",
	gateway.ErrModelNotFound:    "gatewayctl models lists those that are known; --region chooses where to ask",
	gateway.ErrConnection:       "is there a network? --base-url and HTTPS_PROXY lead elsewhere, --emulator needs none",
	gateway.ErrProviderNotFound: "--catalog FILE brings the entries",
	gateway.ErrPermission:       "the project, --project, and the role of the credentials decide it",
	gateway.ErrTimeout:          "--timeout gives it longer",
}

func hintFor(err error) string {
	var e *gateway.Error
	if !errors.As(err, &e) {
		return ""
	}
	if e.Code == gateway.ErrInvalidConfig && e.Param == "project_id" {
		return "at the command line that is --project, or GOOGLE_CLOUD_PROJECT"
	}
	return hints[e.Code]
}

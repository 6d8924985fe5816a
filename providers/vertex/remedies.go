package vertex

import (
	"bytes"
	"net/http"
	"strings"

	"github.com/b650d4bf/gateway/internal/engine"
	"github.com/b650d4bf/gateway/providers"
)

var _ engine.Remedier = (*site)(nil)

// Remedy says which permission is missing, and where else a model or a cached
// content may be.
func (*site) Remedy(e *providers.Error) string {
	switch {
	case e.Code == providers.ErrPermission && strings.Contains(e.Message, "aiplatform.cachedContents."):
		return "roles/aiplatform.user has that permission"
	case e.Code == providers.ErrPermission && strings.Contains(e.Message, "discoveryengine."):
		return "the credentials need the permission discoveryengine.rankingConfigs.rank"
	case e.Code == providers.ErrCacheNotFound:
		return "it may have expired, or be in another project or location: create it again"
	case e.Code == providers.ErrPermission && e.NativeStatus != claudePermission && !bytes.Contains(e.Details, []byte("SERVICE_DISABLED")):
		return "the credentials need the permission aiplatform.endpoints.predict, as in roles/aiplatform.user"
	case e.Code == providers.ErrModelNotFound && e.StatusCode == http.StatusNotFound:
		return "check the model's name and region: some models are in global, us or eu only, and a publisher whose models the table does not know goes before the name, as in anthropic.MODEL"
	}
	return ""
}

// claudePermission is the type of a refusal that comes from a Claude model, not
// from the platform's access control.
const claudePermission = "permission_error"

package gateway

import (
	"cloud.google.com/go/auth"
	"golang.org/x/oauth2"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/internal/gcpauth"
	"github.com/b650d4bf/gateway/internal/pipeline"
)

// CredentialsType declares what a credentials JSON is. It is loaded as that and
// as nothing else: a configuration from elsewhere must not be able to name
// another kind, which could run programs or send tokens to other hosts.
type CredentialsType string

// The types of credentials JSON, with the words of their "type" member.
const (
	ServiceAccount             CredentialsType = "service_account"
	AuthorizedUser             CredentialsType = "authorized_user"
	ExternalAccount            CredentialsType = "external_account"
	ImpersonatedServiceAccount CredentialsType = "impersonated_service_account"
)

var credentialKinds = map[CredentialsType]gcpauth.Kind{
	ServiceAccount:             gcpauth.ServiceAccountJSON,
	AuthorizedUser:             gcpauth.AuthorizedUserJSON,
	ExternalAccount:            gcpauth.ExternalAccountJSON,
	ImpersonatedServiceAccount: gcpauth.ImpersonatedJSON,
}

// credentials sets the client's credentials; a client has one kind of them.
func credentials(set func(*gcpauth.Config) error) ClientOption {
	return clientOption(func(c *clientConfig) error {
		if c.credentials.Kind != gcpauth.ApplicationDefault {
			return invalidOption("credentials", "more than one kind of credentials is given")
		}
		return set(&c.credentials)
	})
}

// WithTokenSource takes access tokens from src, which may cache them. Tokens are
// renewed in the background before they end.
func WithTokenSource(src oauth2.TokenSource) ClientOption {
	return credentials(func(c *gcpauth.Config) error {
		c.Kind, c.TokenSource = gcpauth.TokenSource, src
		return nil
	})
}

// WithCredentials takes tokens, project and universe domain from credentials of
// the cloud.google.com/go/auth module.
func WithCredentials(creds *auth.Credentials) ClientOption {
	return credentials(func(c *gcpauth.Config) error {
		c.Kind, c.Credentials = gcpauth.Credentials, creds
		return nil
	})
}

// WithCredentialsJSON uses a credentials JSON of the declared type: a service
// account key, or workload identity federation as [ExternalAccount]. The
// addresses in it must be https, and for the latter kinds on the platform's
// hosts or on allowedHosts.
func WithCredentialsJSON(declared CredentialsType, json []byte, allowedHosts ...string) ClientOption {
	return credentials(func(c *gcpauth.Config) error {
		kind, ok := credentialKinds[declared]
		if !ok {
			return invalidOption("credentials", "the declared type must be one of the CredentialsType constants")
		}
		c.Kind, c.JSON, c.AllowedHosts = kind, json, allowedHosts
		return nil
	})
}

// WithServiceAccountFile uses a service account key from a file, which is read
// again when it is needed, so that a rotated key works at once.
func WithServiceAccountFile(path string) ClientOption {
	return credentials(func(c *gcpauth.Config) error {
		c.Kind, c.File = gcpauth.ServiceAccountFile, path
		return nil
	})
}

// WithoutAuth sends no credentials, for a proxy that adds them.
func WithoutAuth() ClientOption {
	return credentials(func(c *gcpauth.Config) error {
		c.Kind = gcpauth.None
		return nil
	})
}

// WithQuotaProject bills quota to another project than the credentials' own. It
// goes with the client's credentials, and not with a catalog entry's or a
// call's.
func WithQuotaProject(id string) ClientOption {
	return clientOption(func(c *clientConfig) error {
		if err := (catalog.Entry{QuotaProject: id}).CheckPlace(); err != nil || id == "" {
			return invalidOption("quota_project", "must be a project id or number")
		}
		c.credentials.QuotaProject = id
		return nil
	})
}

// addCredentials makes the client's token source. Without an option it is the
// application-default credentials, which serve calls that nothing else has
// credentials for.
func (c *clientConfig) addCredentials(sources *pipeline.Sources) error {
	if token, ok := c.settings.Token.(*pipeline.StaticToken); ok && c.credentials.QuotaProject != "" {
		c.settings.Token = token.WithQuota(c.credentials.QuotaProject)
	}
	if c.credentials.UniverseDomain = c.settings.UniverseDomain; c.credentials.Kind == gcpauth.ApplicationDefault {
		return sources.SetDefault(c.credentials)
	}
	src, err := sources.Add(c.credentials)
	if err != nil {
		return invalidOption("credentials", err.Error())
	}
	if c.settings.Token != nil {
		return invalidOption("credentials", "more than one kind of credentials is given")
	}
	c.settings.Token = src
	return nil
}

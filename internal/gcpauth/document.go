package gcpauth

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"github.com/b650d4bf/gateway/internal/place"
)

// The types of credential JSON. [Application default credentials]:
// https://google.aip.dev/auth/4110
const (
	typeServiceAccount  = "service_account"
	typeAuthorizedUser  = "authorized_user"
	typeExternalAccount = "external_account"
	typeImpersonated    = "impersonated_service_account"
)

// maxNesting bounds credentials that impersonate through credentials.
const maxNesting = 4

var (
	errJSON     = errors.New("the credential JSON is malformed")
	errUniverse = errors.New(`universe_domain isn't a domain name such as "googleapis.com"`)
)

// document is the part of credential JSON, of any type, that is looked at before
// the library gets it.
type document struct {
	Type           string          `json:"type"`
	ProjectID      string          `json:"project_id"`
	Project        string          `json:"project"`
	QuotaProject   string          `json:"quota_project_id"`
	Universe       string          `json:"universe_domain"`
	ClientEmail    string          `json:"client_email"`
	PrivateKey     string          `json:"private_key"`
	TokenURI       string          `json:"token_uri"`
	RefreshToken   string          `json:"refresh_token"`
	TokenURL       string          `json:"token_url"`
	TokenInfoURL   string          `json:"token_info_url"`
	ImpersonateURL string          `json:"service_account_impersonation_url"`
	Source         json.RawMessage `json:"source_credentials"`
	Subject        *subject        `json:"credential_source"`
}

// subject is where an external account finds its subject token.
type subject struct {
	URL             string `json:"url"`
	RegionURL       string `json:"region_url"`
	SessionTokenURL string `json:"imdsv2_session_token_url"`
	VerificationURL string `json:"regional_cred_verification_url"`
	EnvironmentID   string `json:"environment_id"`
	Certificate     *struct {
		UseDefault bool `json:"use_default_certificate_config"`
	} `json:"certificate"`
}

// project returns the project the JSON names, or "".
func (d *document) project() string {
	if d.ProjectID != "" {
		return d.ProjectID
	}
	return d.Project
}

// ownCertificate reports that exchanges present a client certificate from the
// default place.
func (d *document) ownCertificate() bool {
	return d.Subject != nil && d.Subject.Certificate != nil && d.Subject.Certificate.UseDefault
}

// parse decodes data and checks that it is of the declared type, complete, and
// free of addresses that would carry secrets away.
func (l *loader) parse(data []byte) (*document, error) { return l.parseNested(data, l.declared, 0) }

func (l *loader) parseNested(data []byte, declared string, depth int) (*document, error) {
	doc := new(document)
	// The decoder's own words are dropped, since they can quote a value.
	if err := json.Unmarshal(data, doc); err != nil {
		return nil, permanentError{errJSON}
	}
	if doc.Type == "" || declared != "" && doc.Type != declared {
		return nil, permanentError{wrongType(doc.Type, declared)}
	}
	if doc.Universe != "" && !place.IsDomain(doc.Universe) {
		return nil, permanentError{errUniverse}
	}
	err := l.check(doc, depth)
	if err != nil {
		return nil, permanentError{err}
	}
	return doc, nil
}

// wrongType says what was found where another type was declared, and what to do.
func wrongType(found, declared string) error {
	switch {
	case found == "" && declared == "":
		return errors.New(`"type" is missing: these aren't credentials`)
	case found == "":
		return fmt.Errorf(`"type" is missing, want %q`, declared)
	}
	remedy := "use credential JSON of the declared type"
	for k := range ImpersonatedJSON + 1 {
		if k.jsonType() == found {
			remedy = fmt.Sprintf("declare it as %s, or use credential JSON of the declared type", k)
			break
		}
	}
	return fmt.Errorf(`"type" is %q, want %q: %s`, brief(found), declared, remedy)
}

// check looks at the members that doc.Type needs.
func (l *loader) check(doc *document, depth int) error {
	switch doc.Type {
	case typeServiceAccount:
		return l.checkServiceAccount(doc)
	case typeAuthorizedUser:
		if doc.RefreshToken == "" {
			return errors.New(`"refresh_token" is missing: log in again`)
		}
	case typeExternalAccount:
		return l.checkExternal(doc)
	case typeImpersonated:
		return l.checkImpersonated(doc, depth)
	}
	return nil
}

// checkServiceAccount parses the key, so that a damaged one is found before the
// first call. Its token_uri is free, as the key vouches for it, but encrypted.
func (l *loader) checkServiceAccount(doc *document) error {
	if doc.ClientEmail == "" || doc.PrivateKey == "" {
		return errors.New(`"client_email" or "private_key" is missing: download the key again`)
	}
	block, _ := pem.Decode([]byte(doc.PrivateKey))
	if block == nil {
		return errors.New(`"private_key" isn't PEM: line breaks must be written as \n`)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	}
	if _, ok := key.(*rsa.PrivateKey); err != nil || !ok {
		return errors.New(`"private_key" isn't an RSA key: download the key again`)
	}
	if doc.TokenURI == "" {
		return nil
	}
	return encrypted("token_uri", doc.TokenURI)
}

func (l *loader) checkImpersonated(doc *document, depth int) error {
	switch {
	case doc.ImpersonateURL == "" || len(doc.Source) == 0:
		return errors.New(`"service_account_impersonation_url" or "source_credentials" is missing`)
	case depth >= maxNesting:
		return errors.New(`"source_credentials" are nested too deeply`)
	}
	if err := l.address("service_account_impersonation_url", doc.ImpersonateURL); err != nil {
		return err
	}
	_, err := l.parseNested(doc.Source, "", depth+1)
	if err != nil {
		return fmt.Errorf("source_credentials: %w", sanitize(err))
	}
	return nil
}

func (l *loader) checkExternal(doc *document) error {
	if doc.Subject == nil {
		return errors.New(`"credential_source" is missing`)
	}
	src := doc.Subject
	for _, a := range []struct{ member, url string }{
		{"token_url", doc.TokenURL},
		{"token_info_url", doc.TokenInfoURL},
		{"service_account_impersonation_url", doc.ImpersonateURL},
	} {
		if err := l.address(a.member, a.url); err != nil {
			return err
		}
	}
	for _, a := range []struct{ member, url string }{
		{"credential_source.url", src.URL},
		{"credential_source.region_url", src.RegionURL},
		{"credential_source.imdsv2_session_token_url", src.SessionTokenURL},
	} {
		if !l.hosts.metadata(a.url) {
			if err := l.address(a.member, a.url); err != nil {
				return err
			}
		}
	}
	if strings.HasPrefix(src.EnvironmentID, "aws") && l.hosts.amazonSTS(src.VerificationURL) {
		return nil
	}
	return l.address("credential_source.regional_cred_verification_url", src.VerificationURL)
}

// address checks one member; "" is fine, as the library has defaults.
func (l *loader) address(member, url string) error {
	if url == "" || l.trusted {
		return nil
	}
	return l.hosts.check(member, url)
}

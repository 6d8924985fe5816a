package gcpauth

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"cloud.google.com/go/auth"
)

const (
	envMetadataHost = "GCE_METADATA_HOST" // replaces the metadata server
	metadataIP      = "169.254.169.254"
	// metadataTimeout bounds one request: off Google Cloud the address often
	// leads nowhere.
	metadataTimeout = 3 * time.Second
)

// errNoDefault is the cause when the search for application default credentials
// ends at a metadata server that isn't there.
var errNoDefault = errors.New("no application default credentials: " + envCredentials + " isn't set, gcloud has no login, " +
	"and no metadata server answers (run gcloud auth application-default login, or give a service account)")

// metadataOrigin gets tokens from the metadata server of Compute Engine, GKE and
// Cloud Run. [Metadata]: https://cloud.google.com/compute/docs/access/authenticate-workloads#applications
type metadataOrigin struct {
	client *http.Client

	mu    sync.Mutex
	known map[fact]string // facts don't change while a machine runs
}

// metadataHost returns the host, and port if any, of the metadata server.
func metadataHost() string {
	if h := os.Getenv(envMetadataHost); h != "" {
		return h
	}
	return metadataIP
}

func (o *metadataOrigin) exchange(ctx context.Context) (*auth.Token, error) {
	const path = "instance/service-accounts/default/token?scopes="
	body, err := o.get(ctx, path+url.QueryEscape(Scope))
	if status, ok := errors.AsType[*StatusError](err); ok && status.Status == http.StatusNotFound {
		return nil, permanentError{errors.New("the machine has no service account: attach one to it")}
	}
	if err != nil {
		return nil, err
	}
	var answer struct {
		AccessToken string `json:"access_token"`
		ExpiresIn   int64  `json:"expires_in"`
	}
	if json.Unmarshal(body, &answer) != nil || answer.AccessToken == "" || answer.ExpiresIn <= 0 {
		return nil, errors.New("the metadata server's answer isn't a token")
	}
	return &auth.Token{
		Value: answer.AccessToken, Type: "Bearer",
		Expiry: time.Now().Add(time.Duration(answer.ExpiresIn) * time.Second),
	}, nil
}

func (o *metadataOrigin) fact(ctx context.Context, f fact) (string, error) {
	path := map[fact]string{projectID: "project/project-id", universeDomain: "universe/universe-domain"}[f]
	if path == "" {
		return "", nil
	}
	o.mu.Lock()
	v, ok := o.known[f]
	o.mu.Unlock()
	if ok {
		return v, nil
	}
	body, err := o.get(ctx, path)
	if status, is := errors.AsType[*StatusError](err); is && status.Status == http.StatusNotFound {
		err = nil // older servers don't know universes
	}
	if err != nil {
		return "", err
	}
	v = strings.TrimSpace(string(body))
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.known == nil {
		o.known = make(map[fact]string)
	}
	o.known[f] = v
	return v, nil
}

// get asks the metadata server for path.
func (o *metadataOrigin) get(ctx context.Context, path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, metadataTimeout)
	defer cancel()
	host := metadataHost()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+host+"/computeMetadata/v1/"+path, nil)
	if err != nil {
		return nil, permanentError{errors.New(envMetadataHost + " isn't a host")}
	}
	req.Header.Set("Metadata-Flavor", "Google")
	resp, err := o.client.Do(req)
	if err != nil {
		return nil, o.unreachable(err)
	}
	defer func() { _ = resp.Body.Close() }()
	// Other clouds answer at the same address.
	if host == metadataIP && resp.Header.Get("Metadata-Flavor") != "Google" {
		return nil, permanentError{errNoDefault}
	}
	return io.ReadAll(resp.Body)
}

// unreachable keeps the answer of a server and explains the lack of one. It isn't
// permanent: on GKE the server may start later than the workload.
func (o *metadataOrigin) unreachable(err error) error {
	if _, ok := errors.AsType[*StatusError](err); ok || errors.Is(err, errRedirect) || errors.Is(err, context.Canceled) {
		return err
	}
	return errNoDefault
}

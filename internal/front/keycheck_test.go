package front

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/providers"
)

func TestKeyCheck(t *testing.T) {
	none, clients, admins, both := Config{}, Config{Keys: []string{"one", "two"}}, Config{AdminKeys: []string{"boss"}}, Config{Keys: []string{"one"}, AdminKeys: []string{"boss"}}
	one := keyID("one")
	tests := []struct {
		name string
		cfg  Config
		in   http.Header
		want *string
		code providers.Code
	}{
		{"no keys are needed", none, nil, nil, ""},
		{"no keys are needed, but one came", none, http.Header{"X-Gateway-Api-Key": {"x"}}, nil, ""},
		{"no keys are needed, and a strange token came", none, http.Header{"Authorization": {"Basic x"}}, nil, ""},
		{"a client's key sees its own", clients, http.Header{"X-Gateway-Api-Key": {"one"}}, &one, ""},
		{"a client's key as the token", clients, http.Header{"Authorization": {"Bearer one"}}, &one, ""},
		{"a wrong key", clients, http.Header{"X-Gateway-Api-Key": {"three"}}, nil, providers.ErrAuthentication},
		{"a wrong key beside a right token", clients, http.Header{"X-Gateway-Api-Key": {"three"}, "Authorization": {"Bearer one"}}, nil, providers.ErrAuthentication},
		{"no key", clients, nil, nil, providers.ErrAuthentication},
		{"two keys", clients, http.Header{"X-Gateway-Api-Key": {"one", "two"}}, nil, providers.ErrAuthentication},
		{"a key that fits nobody", Config{Keys: []string{""}}, http.Header{"X-Gateway-Api-Key": {""}}, nil, providers.ErrAuthentication},
		{"an admin's key", both, http.Header{"X-Gateway-Api-Key": {"boss"}}, nil, ""},
		{"a client's key where there are admins", both, http.Header{"X-Gateway-Api-Key": {"one"}}, nil, providers.ErrPermission},
		{"a wrong key where there are admins", both, http.Header{"X-Gateway-Api-Key": {"x"}}, nil, providers.ErrAuthentication},
		{"no key where there are admins alone", admins, nil, nil, providers.ErrAuthentication},
		{"an admin's key where there are admins alone", admins, http.Header{"X-Gateway-Api-Key": {"boss"}}, nil, ""},
		{"an admin's key that fits nobody", Config{AdminKeys: []string{""}}, http.Header{"X-Gateway-Api-Key": {""}}, nil, providers.ErrAuthentication},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := NewKeyCheck(tt.cfg).Admit(tt.in)
			var code providers.Code
			if err != nil {
				code = publicError(err).Code
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || code != tt.code {
				t.Errorf("error %v, want %q\n%s", err, tt.code, diff)
			}
		})
	}
}

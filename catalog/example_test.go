package catalog_test

import (
	"fmt"

	"github.com/b650d4bf/gateway/catalog"
)

func ExampleParse() {
	c, err := catalog.Parse([]byte(`{"providers": {
		"vx-prod": {"provider": "vertex-ai", "region": "europe-west4", "access_token": "ya29.secret"}
	}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	e, err := c.Lookup("@vx-prod")
	fmt.Println(e.Region, e.AccessToken, err)
	_, err = c.Lookup("@vx-prd")
	fmt.Println(err)
	// Output:
	// europe-west4 [redacted] <nil>
	// catalog: provider "vx-prd" not found (did you mean "vx-prod"?)
}

func ExampleParse_mistakes() {
	_, err := catalog.Parse([]byte(`{"providers": {
		"vx": {"provider": "vertex-ai", "regoin": "us", "base_url": "http://proxy.example"}
	}}`))
	fmt.Println(err)
	// Output:
	// providers.vx.regoin: unknown member (did you mean "region"?)
	// providers.vx.base_url: plain http would send credentials in the clear: use https (http is for loopback hosts)
}

package config_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/config"
)

// call is what the queries of these tests look at.
func call() *config.Call {
	return &config.Call{
		Meta:    map[string]string{"plan": "pro", "n": "5", "f": "5.0", "on": "true", "a.b": "dots", "empty": "", "hex": "0x5", "inf": "inf"},
		Headers: http.Header{"X-Team": {"blue", "red"}, "X-None": {}, "X-N": {"7"}},
		Body: []byte(`{"model":"gemini", "max_tokens": 1000, "temperature":0.50, "stream":true, "seed":null, "big":9007199254740993,
			"s":"5", "escaped":"gr\u00fcn\n", "list":["x"], "object":{}, "thinking": {"type" : "enabled", "deep":{"er":-1e-1}}, "huge":1e999}`),
	}
}

func TestQueries(t *testing.T) {
	for _, tt := range []struct {
		name, query string
		want        bool
	}{
		{"metadata equal", `{"metadata.plan":"pro"}`, true},
		{"metadata not equal", `{"metadata.plan":"free"}`, false},
		{"metadata is missing", `{"metadata.none":"x"}`, false},
		{"metadata in another case", `{"metadata.Plan":"pro"}`, false},
		{"metadata with dots in its key", `{"metadata.a.b":"dots"}`, true},
		{"metadata that is empty", `{"metadata.empty":""}`, true},
		{"metadata as a number", `{"metadata.n":5}`, true},
		{"metadata as a number in another notation", `{"metadata.f":5}`, true},
		{"metadata as text", `{"metadata.n":"5"}`, true},
		{"metadata as another text of the number", `{"metadata.f":"5"}`, false},
		{"metadata as a boolean", `{"metadata.on":true}`, true},
		{"metadata as the other boolean", `{"metadata.on":false}`, false},
		{"metadata is never null", `{"metadata.none":null}`, false},
		{"metadata in order", `{"metadata.n":{"$gt":4.5,"$lte":5}}`, true},
		{"metadata of words is in no order", `{"metadata.plan":{"$gt":0}}`, false},
		{"metadata of words is in no order the other way", `{"metadata.plan":{"$lte":0}}`, false},
		{"metadata in hexadecimal is no number", `{"metadata.hex":5}`, false},
		{"infinity is no number", `{"metadata.inf":{"$gt":5}}`, false},
		{"empty metadata is no number", `{"metadata.empty":0}`, false},

		{"a header by any case", `{"headers.x-TEAM":"blue"}`, true},
		{"a header's further values", `{"headers.x-team":"red"}`, false},
		{"a header without a value", `{"headers.x-none":{"$ne":"x"}}`, true},
		{"a header as a number", `{"headers.x-n":{"$gte":7}}`, true},

		{"a member equal", `{"params.model":"gemini"}`, true},
		{"a member as a number", `{"params.max_tokens":1e3}`, true},
		{"a member as a fraction", `{"params.temperature":0.5}`, true},
		{"a number in quotes is text", `{"params.s":5}`, false},
		{"a number in quotes is text that equals", `{"params.s":"5"}`, true},
		{"a number in quotes has no order", `{"params.s":{"$gte":5}}`, false},
		{"a number is no text", `{"params.max_tokens":"1000"}`, false},
		{"a boolean", `{"params.stream":true}`, true},
		{"a boolean is no text", `{"params.stream":"true"}`, false},
		{"a null", `{"params.seed":null}`, true},
		{"a null is no value", `{"params.seed":{"$ne":null}}`, false},
		{"a missing member is no null", `{"params.none":null}`, false},
		{"numbers are doubles", `{"params.big":9007199254740992}`, true},
		{"a number beyond doubles is none", `{"params.huge":{"$gt":0}}`, false},
		{"escapes on both sides", `{"params.escaped":"gr\u00FCn\u000a"}`, true},
		{"a path", `{"params.thinking.type":"enabled"}`, true},
		{"a longer path", `{"params.thinking.deep.er":{"$lt":0,"$eq":-0.1}}`, true},
		{"a path through text", `{"params.model.x":"y"}`, false},
		{"a path through null", `{"params.seed.x":{"$ne":"y"}}`, true},
		{"a list equals nothing", `{"params.list":"x"}`, false},
		{"a list is not equal to anything", `{"params.list":{"$ne":"x"}}`, true},
		{"an object equals nothing", `{"params.object":{"$in":["",0,false,null]}}`, false},
		{"a pattern on an object", `{"params.object":{"$regex":""}}`, false},

		{"$ne", `{"metadata.plan":{"$ne":"free"}}`, true},
		{"$ne of what is equal", `{"metadata.plan":{"$ne":"pro"}}`, false},
		{"$ne of what is missing", `{"metadata.none":{"$ne":"x"}}`, true},
		{"$in", `{"metadata.plan":{"$in":["free","pro"]}}`, true},
		{"$in across types", `{"params.max_tokens":{"$in":["1000",true,1000]}}`, true},
		{"$in without it", `{"metadata.plan":{"$in":["free"]}}`, false},
		{"$in of what is missing", `{"metadata.none":{"$in":["x",null]}}`, false},
		{"$nin", `{"metadata.plan":{"$nin":["free"]}}`, true},
		{"$nin with it", `{"metadata.plan":{"$nin":["free","pro"]}}`, false},
		{"$nin of what is missing", `{"params.none":{"$nin":["x"]}}`, true},
		{"$gt of the same", `{"params.max_tokens":{"$gt":1000}}`, false},
		{"$gte of the same", `{"params.max_tokens":{"$gte":1000}}`, true},
		{"$lt of the same", `{"params.max_tokens":{"$lt":1000}}`, false},
		{"$lte of the same", `{"params.max_tokens":{"$lte":1000}}`, true},
		{"$lt of what is missing", `{"params.none":{"$lt":5}}`, false},
		{"$regex anywhere", `{"params.model":{"$regex":"emin"}}`, true},
		{"$regex with anchors", `{"params.model":{"$regex":"^emin"}}`, false},
		{"$regex in another case", `{"metadata.plan":{"$regex":"(?i)PRO"}}`, true},
		{"$regex over escapes", `{"params.escaped":{"$regex":"grün\\n$"}}`, true},
		{"$regex on a number", `{"params.max_tokens":{"$regex":"1"}}`, false},
		{"$regex on metadata that is a number", `{"metadata.n":{"$regex":"^5$"}}`, true},
		{"$regex of what is missing", `{"metadata.none":{"$regex":""}}`, false},

		{"several members are all needed", `{"metadata.plan":"pro","params.model":"other"}`, false},
		{"several operators are all needed", `{"params.max_tokens":{"$gt":1,"$lt":5}}`, false},
		{"$or", `{"$or":[{"metadata.plan":"free"},{"params.model":"gemini"}]}`, true},
		{"$or of none", `{"$or":[{"metadata.plan":"free"},{"params.model":"other"}]}`, false},
		{"$and", `{"$and":[{"metadata.plan":"pro"},{"params.model":"gemini"}]}`, true},
		{"$and of one", `{"$and":[{"metadata.plan":"pro"},{"params.model":"other"}]}`, false},
		{"a member beside $or", `{"$or":[{"metadata.plan":"pro"}],"params.model":"other"}`, false},
		{"a member before $and", `{"params.model":"other","$and":[{"metadata.plan":"pro"}]}`, false},
		{"$regex beside another operator", `{"metadata.plan":{"$regex":"pro","$ne":"pro"}}`, false},
		{"groups within groups", `{"$and":[{"$or":[{"metadata.n":4},{"$and":[{"metadata.n":5},{"metadata.f":5}]}]},{"headers.x-n":"7"}]}`, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q, err := config.ParseQuery([]byte(tt.query))
			if err != nil {
				t.Fatal(err)
			}
			if got := q.Match(call()); got != tt.want {
				t.Errorf("%s: %v, want %v", tt.query, got, tt.want)
			}
		})
	}
}

func TestQueriesOfNothing(t *testing.T) {
	var none *config.Query
	for name, q := range map[string]*config.Query{"nil": none, "zero": {}} {
		if q.Match(call()) {
			t.Errorf("%s: matches", name)
		}
		if b, err := q.MarshalJSON(); err != nil || string(b) != "null" || q.String() != "" {
			t.Errorf("%s: %s, %v, %q", name, b, err, q.String())
		}
	}
	q, err := config.ParseQuery([]byte(` {"metadata.a":{"$ne":"b"}} `))
	if err != nil {
		t.Fatal(err)
	}
	if !q.Match(&config.Call{}) {
		t.Error("a call without anything has the field")
	}
	if q.String() != `{"metadata.a":{"$ne":"b"}}` || q.Equal(none) || none.Equal(q) || !q.Equal(q) || !none.Equal(nil) {
		t.Errorf("%s and its equals", q)
	}
}

func TestQueriesThatAreWrongAreNotReturned(t *testing.T) {
	q, err := config.ParseQuery([]byte(`{"metadata.a":{"$regex":"("},"$or":5}`))
	want := lines(`["metadata.a"].$regex: isn't a regular expression of RE2: https://github.com/google/re2/wiki/Syntax`, `$or: must be a list of queries`)
	if q != nil || err == nil || err.Error() != want {
		t.Errorf("query %v, error %v, want %s", q, err, want)
	}
	if f, err := config.ParseField("elsewhere.x"); err == nil || f.Source != "" {
		t.Errorf("field %v, error %v", f, err)
	}
}

func TestConditionsPickTheFirstThatHolds(t *testing.T) {
	c, err := config.Parse([]byte(`{"strategy":{"mode":"conditional","conditions":[
		{"query":{"metadata.plan":"free"},"then":"a"}, {"query":{"metadata.plan":"pro"},"then":"b"}, {"query":{"params.model":"gemini"},"then":"a"}
	]},"targets":[{"name":"a"},{},{"name":"b"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Strategy.Pick(c.Targets, call()); got != 2 {
		t.Errorf("target %d, want 2", got)
	}
	if got := c.Strategy.Pick(c.Targets, &config.Call{}); got != -1 {
		t.Errorf("without a default: %d, want -1", got)
	}
	c.Strategy.Default = "a"
	if got := c.Strategy.Pick(c.Targets, &config.Call{}); got != 0 {
		t.Errorf("with a default: %d, want 0", got)
	}
}

func TestKeysOfStickyChoices(t *testing.T) {
	key := func(c *config.Call, fields ...string) (string, bool) {
		s := config.Sticky{Enabled: true}
		for _, text := range fields {
			f, err := config.ParseField(text)
			if err != nil {
				t.Fatal(err)
			}
			s.HashFields = append(s.HashFields, f)
		}
		b, ok := s.AppendKey([]byte("x"), c)
		return string(b), ok
	}
	same := func(name, a, b string, want bool) {
		if (a == b) != want {
			t.Errorf("%s: %q and %q, want the same: %v", name, a, b, want)
		}
	}
	a, ok := key(&config.Call{Body: []byte(`{"user":"a\u0062"}`)}, "params.user")
	b, _ := key(&config.Call{Body: []byte(`{"user": "ab" }`)}, "params.user")
	same("escapes", a, b, true)
	if !ok {
		t.Error("a field was not found")
	}
	a, _ = key(&config.Call{Body: []byte(`{"user":"1"}`)}, "params.user")
	b, _ = key(&config.Call{Body: []byte(`{"user":1}`)}, "params.user")
	same("types", a, b, false)
	a, _ = key(&config.Call{Meta: map[string]string{"a": "xs", "b": "y"}}, "metadata.a", "metadata.b")
	b, _ = key(&config.Call{Meta: map[string]string{"a": "x", "b": "sy"}}, "metadata.a", "metadata.b")
	same("borders", a, b, false)
	a, ok = key(&config.Call{}, "metadata.a", "headers.x")
	if a != "xnn" || ok {
		t.Errorf("without fields: %q, %v", a, ok)
	}
}

func TestFieldsAreWrittenAsTheyAreRead(t *testing.T) {
	for in, want := range map[string]string{"metadata.a.b": "metadata.a.b", "params.a.b": "params.a.b", "headers.x-team": "headers.X-Team"} {
		f, err := config.ParseField(in)
		if err != nil || f.String() != want {
			t.Errorf("%s: %v, %v, want %s", in, f, err, want)
		}
	}
	f, _ := config.ParseField("params.a.b")
	if diff := cmp.Diff(config.Field{Source: config.FromParams, Path: []string{"a", "b"}}, f); diff != "" {
		t.Errorf("field (-want +got):\n%s", diff)
	}
}

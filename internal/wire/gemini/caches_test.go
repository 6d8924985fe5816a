package gemini

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/b650d4bf/gateway/internal/jsonx"
)

func decode[T interface{ Decode(*jsonx.Reader) }](v T, data string) error {
	r := jsonx.NewReader([]byte(data))
	v.Decode(&r)
	return r.End()
}

func TestDecodeTokenCount(t *testing.T) {
	for _, tt := range []struct {
		name, data string
		want       TokenCount
	}{
		{"all of it", `{"totalTokens":31,"totalBillableCharacters":96,"future":{"a":[1]},"promptTokensDetails":[{"modality":"TEXT","tokenCount":20},{"tokenCount":"11","modality":2,"x":1}]}`,
			TokenCount{Total: 31, BillableCharacters: 96, HasTotal: true, Modalities: []ModalityCount{{"TEXT", 20}, {"IMAGE", 11}}}},
		{"nulls", `{"totalTokens":null,"promptTokensDetails":null,"totalBillableCharacters":null}`, TokenCount{}},
		{"a null modality", `{"totalTokens":1,"promptTokensDetails":[null]}`, TokenCount{Total: 1, HasTotal: true, Modalities: []ModalityCount{{}}}},
		{"numbers as text", `{"totalTokens":"31","totalBillableCharacters":"9007199254740993"}`, TokenCount{Total: 31, HasTotal: true, BillableCharacters: 9007199254740993}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := TokenCount{Total: 7, Modalities: []ModalityCount{{"OLD", 1}}}
			if err := decode(&got, tt.data); err != nil {
				t.Fatal(err)
			}
			wantEqual(t, tt.want, got)
		})
	}
}

func TestDecodeCachedContents(t *testing.T) {
	var got CachedContentList
	err := decode(&got, `{"cachedContents":[
		{"name":"n","displayName":"d","model":"m","createTime":"c","updateTime":"u","expireTime":"e","ttl":"1s","contents":[{}],
		 "encryptionSpec":{"x":1,"kmsKeyName":"k"},
		 "usageMetadata":{"totalTokenCount":1,"textCount":2,"imageCount":"3","videoDurationSeconds":4,"audioDurationSeconds":5,"x":6}},
		{"name":"n2","displayName":null,"usageMetadata":null,"encryptionSpec":null}],"nextPageToken":"p","x":[]}`)
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, CachedContentList{CachedContents: []CachedContent{
		{
			Name: "n", DisplayName: "d", Model: "m", KMSKeyName: "k", CreateTime: "c", UpdateTime: "u", ExpireTime: "e",
			TotalTokens: 1, TextCount: 2, ImageCount: 3, VideoSeconds: 4, AudioSeconds: 5,
		},
		{Name: "n2"},
	}, NextPageToken: "p"}, got)
	if err := decode(&got, `{}`); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, CachedContentList{}, got)
}

func TestDecodeOfWrongKindsFails(t *testing.T) {
	for _, data := range []string{
		`{"cachedContents":{}}`, `{"cachedContents":[1]}`, `{"cachedContents":[{"name":1}]}`, `{"nextPageToken":2}`,
		`{"cachedContents":[{"usageMetadata":[]}]}`, `{"cachedContents":[{"usageMetadata":{"textCount":1.5}}]}`, `[]`, `{`,
	} {
		if decode(new(CachedContentList), data) == nil {
			t.Errorf("%s: no error", data)
		}
	}
	for _, data := range []string{`{"totalTokens":"x"}`, `{"promptTokensDetails":{}}`, `{"totalTokens":1e30}`, `[]`, ``} {
		if decode(new(TokenCount), data) == nil {
			t.Errorf("%q: no error", data)
		}
	}
}

// FuzzCaches checks that answers never break the decoders, and that what was
// decoded into before does not show.
func FuzzCaches(f *testing.F) {
	for _, seed := range []string{
		`{"totalTokens":31,"totalBillableCharacters":96,"promptTokensDetails":[{"modality":"TEXT","tokenCount":20}]}`,
		`{"cachedContents":[{"name":"n","expireTime":"e","usageMetadata":{"totalTokenCount":1}},null],"nextPageToken":"p"}`,
		`{"cachedContents":null}`, `{"name":"n","encryptionSpec":{"kmsKeyName":"k"}}`, `[`, `{"a":`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data string) {
		count, list := TokenCount{Total: 1, HasTotal: true}, CachedContentList{NextPageToken: "old"}
		var freshCount TokenCount
		var freshList CachedContentList
		same(t, decode(&count, data), decode(&freshCount, data), count, freshCount)
		same(t, decode(&list, data), decode(&freshList, data), list, freshList)
		if decode(new(TokenCount), data) == nil && !jsonx.Valid([]byte(data)) {
			t.Errorf("%q was taken for JSON", data)
		}
	})
}

func same(t *testing.T, usedErr, freshErr error, used, fresh any) {
	t.Helper()
	if (usedErr == nil) != (freshErr == nil) {
		t.Fatalf("%v instead of %v", usedErr, freshErr)
	}
	if d := cmp.Diff(fresh, used); freshErr == nil && d != "" {
		t.Fatalf("(-fresh +used)\n%s", d)
	}
}

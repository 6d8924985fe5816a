package vertextest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// settleJobs ends the jobs whose time is over. The caller holds the lock, which
// is given up while lines are answered.
func (s *Server) settleJobs(now time.Time) {
	for _, j := range slices.Clone(s.jobs) {
		if j.done || j.running {
			continue
		}
		input := s.linesOf(j)
		j.lines = len(input)
		if now.Before(j.ends) {
			continue
		}
		switch {
		case s.cfg.batches.fault != "":
			j.fault = s.cfg.batches.fault
		case input == nil:
			j.fault = "The input file is not there, or has no lines."
		default:
			j.running = true
			if whole := s.cfg.batches.duration; whole > 0 && !j.cancelled.IsZero() {
				input = input[:min(len(input), len(input)*int(j.ends.Sub(j.created))/int(whole))]
			}
			s.mu.Unlock()
			output, good := s.runLines(j, input)
			s.mu.Lock()
			j.good, j.failed, j.running = good, len(output)-good, false
			s.writeOutput(j, output)
		}
		j.done = true
	}
}

// linesOf are the lines of a job's input. The caller holds the lock.
func (s *Server) linesOf(j *batchJob) [][]byte {
	o, ok := s.store.objects[strings.TrimPrefix(j.body.InputConfig.GCSSource.URIs[0], "gs://")]
	if !ok {
		return nil
	}
	var lines [][]byte
	for line := range bytes.Lines(o.data) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			lines = append(lines, line)
		}
	}
	return lines
}

// runLines answers the lines, and counts what went well. The last one comes
// first, as no order is promised.
func (s *Server) runLines(j *batchJob, input [][]byte) (output [][]byte, good int) {
	output = make([][]byte, len(input))
	for i, line := range input {
		out, ok := s.runLine(j, line)
		if ok {
			good++
		}
		output[len(input)-1-i] = out
	}
	return output, good
}

// runLine answers one line through the handler of its model.
func (s *Server) runLine(j *batchJob, line []byte) ([]byte, bool) {
	var in map[string]json.RawMessage
	if json.Unmarshal(line, &in) != nil {
		return encodeLine(map[string]any{"status": "Error: the line is no JSON object", "processed_time": stamp(j.ends)}), false
	}
	if j.of.verb == "predict" {
		return s.runInstance(j, in)
	}
	status, body := s.ask(j, in["request"])
	out := map[string]any{"status": "", "processed_time": stamp(j.ends), "request": in["request"]}
	claude := j.of.publisher == "anthropic"
	if claude {
		out["custom_id"] = in["custom_id"]
	}
	switch {
	case status == http.StatusOK:
		out["response"] = json.RawMessage(body)
	case claude:
		out["error"] = json.RawMessage(body)
	default:
		out["status"] = http.StatusText(status) + ": " + string(body)
		out["response"] = struct{}{}
	}
	return encodeLine(out), status == http.StatusOK
}

// runInstance answers one line of a model that embeds.
func (s *Server) runInstance(j *batchJob, in map[string]json.RawMessage) ([]byte, bool) {
	instance := map[string]json.RawMessage{}
	out := map[string]any{"status": "", "instance": instance}
	for key, value := range in {
		if j.body.InstanceConfig != nil && slices.Contains(j.body.InstanceConfig.ExcludedFields, key) {
			out[key] = value // left out of what the model sees, and beside what it says
		} else {
			instance[key] = value
		}
	}
	call := map[string]any{"instances": []any{instance}}
	if j.body.ModelParameters != nil {
		call["parameters"] = j.body.ModelParameters
	}
	body, err := json.Marshal(call)
	if err != nil {
		return encodeLine(map[string]any{"status": err.Error()}), false
	}
	status, answer := s.ask(j, body)
	var told struct {
		Predictions json.RawMessage `json:"predictions"`
	}
	if status != http.StatusOK || json.Unmarshal(answer, &told) != nil {
		out["status"], out["predictions"] = "Error: "+string(answer), []any{}
		return encodeLine(out), false
	}
	out["predictions"] = told.Predictions
	return encodeLine(out), true
}

// ask sends a body through the handler of the job's model.
func (s *Server) ask(j *batchJob, body []byte) (status int, answer []byte) {
	header := http.Header{"Content-Type": {"application/json"}, "Authorization": j.header.Values("Authorization")}
	found, _ := findRoute(j.of)
	if j.of.publisher == "" { // a tuned model goes by the facts of its endpoint
		found, _ = findRoute(target{verb: j.of.verb})
	}
	x := &exchange{server: s, cfg: &s.cfg, target: j.of, route: found, header: header, body: body}
	_, res := s.respond(x)
	var flat bytes.Buffer
	if json.Compact(&flat, slices.Concat(res.events...)) != nil {
		return http.StatusInternalServerError, []byte(`{"error":{"code":500,"message":"the answer is no JSON","status":"INTERNAL"}}`)
	}
	return res.status, flat.Bytes()
}

func encodeLine(v any) []byte {
	line, err := json.Marshal(v)
	if err != nil {
		line = []byte("{}")
	}
	return line
}

// writeOutput writes what a job made. The caller holds the lock.
func (s *Server) writeOutput(j *batchJob, output [][]byte) {
	prefix := strings.TrimSuffix(j.body.OutputConfig.GCSDestination.OutputURIPrefix, "/")
	j.directory = prefix + "/prediction-model-" + j.created.UTC().Format("2006-01-02T15:04:05.000000Z")
	bucket, folder, _ := strings.Cut(strings.TrimPrefix(j.directory, "gs://"), "/")
	size := s.cfg.batches.shard
	if size <= 0 {
		size = max(1, len(output))
	}
	for n, part := range slices.Collect(slices.Chunk(output, size)) {
		name := "predictions.jsonl"
		switch {
		case j.of.verb == "predict":
			name = fmt.Sprintf("%012d.jsonl", n)
		case n > 0 || size < len(output):
			name = fmt.Sprintf("predictions_%05d.jsonl", n)
		}
		s.put(bucket, objectResource{Name: folder + "/" + name, ContentType: "application/octet-stream"}, append(bytes.Join(part, []byte("\n")), '\n'))
	}
}

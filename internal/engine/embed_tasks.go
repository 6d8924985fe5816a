package engine

import (
	"strconv"
	"strings"

	"github.com/b650d4bf/gateway/catalog"
	"github.com/b650d4bf/gateway/providers"
)

// embedTask is one row of the task types: its name, and the instruction that
// stands before a text where a model has no parameter for it. A document has its
// title there instead.
type embedTask struct{ name, instruction string }

const documentTask = "RETRIEVAL_DOCUMENT"

// embedTasks are the task types.
//
// Sources: https://cloud.google.com/vertex-ai/generative-ai/docs/embeddings/task-types and
// https://ai.google.dev/gemini-api/docs/embeddings#task-types
var embedTasks = []embedTask{
	{"RETRIEVAL_QUERY", "search result"},
	{documentTask, ""},
	{"SEMANTIC_SIMILARITY", "sentence similarity"},
	{"CLASSIFICATION", "classification"},
	{"CLUSTERING", "clustering"},
	{"QUESTION_ANSWERING", "question answering"},
	{"FACT_VERIFICATION", "fact checking"},
	{"CODE_RETRIEVAL_QUERY", "code retrieval"},
}

// taskAliases are other words that are in use for task types.
var taskAliases = map[string]string{
	"SEARCH_QUERY": "RETRIEVAL_QUERY", "SEARCH_DOCUMENT": documentTask,
	"QUERY": "RETRIEVAL_QUERY", "DOCUMENT": documentTask,
	"TASK_TYPE_UNSPECIFIED": "", "UNSPECIFIED": "",
}

func findTask(name string) *embedTask {
	for i := range embedTasks {
		if embedTasks[i].name == name {
			return &embedTasks[i]
		}
	}
	return nil
}

// canonicalTask spells a task type as the platform does.
func canonicalTask(word string) string {
	if findTask(word) != nil || word == "" {
		return word
	}
	name := strings.ToUpper(strings.NewReplacer("-", "_", " ", "_").Replace(word))
	if other, ok := taskAliases[name]; ok {
		return other
	}
	return name
}

// checkTask settles task type and title, and how the model is told of them.
func (e *embedding) checkTask(word string) error {
	e.task = canonicalTask(word)
	if e.task != "" && findTask(e.task) == nil {
		return providers.Invalid("task_type", "unknown task type "+strconv.Quote(clipped(word))+": use "+nearTasks(e.task))
	}
	if e.title != "" && e.task != documentTask {
		return providers.Invalid("title", "a title goes with task_type RETRIEVAL_DOCUMENT only")
	}
	if e.task == "" {
		return nil
	}
	switch e.row.Tasks {
	case catalog.TaskNone:
		e.warn(providers.WarnUnsupported, "task_type", "left out: "+e.model.Name+" has no task types")
		if e.title != "" {
			e.warn(providers.WarnUnsupported, "title", "left out: "+e.model.Name+" has no titles")
		}
		e.task, e.title = "", ""
	case catalog.TaskPrefix:
		e.warn(providers.WarnAdjusted, "task_type", e.model.Name+" takes no task type: an instruction stands before each text instead")
	}
	return nil
}

// nearTasks lists the task types that resemble the word, or all of them.
func nearTasks(word string) string {
	const stem = 4 // letters that two words must begin with in common
	var near, all []string
	for _, t := range embedTasks {
		all = append(all, t.name)
		for part := range strings.SplitSeq(t.name, "_") {
			for own := range strings.SplitSeq(word, "_") {
				if len(own) >= stem && len(part) >= stem && own[:stem] == part[:stem] && (len(near) == 0 || near[len(near)-1] != t.name) {
					near = append(near, t.name)
				}
			}
		}
	}
	if len(near) == 0 {
		near = all
	}
	return strings.Join(near[:len(near)-1], ", ") + orLast(near)
}

// orLast ends a list of words.
func orLast(list []string) string {
	if len(list) == 1 {
		return list[0]
	}
	return " or " + list[len(list)-1]
}

// clipped shortens a caller's word for an error message.
func clipped(s string) string {
	const most = 40
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

// prefix is what stands before a text that has the task, or "".
func (e *embedding) prefix() string {
	if e.task == "" || e.row.Tasks != catalog.TaskPrefix {
		return ""
	}
	if e.task == documentTask {
		title := e.title
		if title == "" {
			title = "none"
		}
		return "title: " + title + " | text: "
	}
	return "task: " + findTask(e.task).instruction + " | query: "
}

// parameter is the task type where it is one, or "".
func (e *embedding) parameter() string {
	if e.row.Tasks != catalog.TaskParameter {
		return ""
	}
	return e.task
}

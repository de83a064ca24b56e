// Holds objects of Tekton against Tekton's own types and validation, as its admission webhook does.
//
//	tekton-check <objects.yaml        what is wrong, a line each; status 1 where something is
//	tekton-check replace <list.json   texts as Tekton leaves them where it knows every variable in them
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	v1 "github.com/tektoncd/pipeline/pkg/apis/pipeline/v1"
	"github.com/tektoncd/pipeline/pkg/substitution"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	reader "k8s.io/apimachinery/pkg/util/yaml"
	"knative.dev/pkg/apis"
	kubejson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

type object interface {
	apis.Defaultable
	apis.Validatable
	metav1.Object
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "replace" {
		replace()
		return
	}
	documents := reader.NewYAMLReader(bufio.NewReader(os.Stdin))
	seen, wrong := 0, 0
	for {
		text, err := documents.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = check(text, &seen)
		}
		if err != nil {
			fmt.Println(err)
			wrong++
		}
	}
	fmt.Printf("%d objects of Tekton\n", seen)
	if wrong > 0 || seen == 0 {
		os.Exit(1)
	}
}

func check(text []byte, seen *int) error {
	var kind metav1.TypeMeta
	if err := yaml.Unmarshal(text, &kind); err != nil {
		return err
	}
	if kind.APIVersion != "tekton.dev/v1" {
		return nil
	}
	var read object
	switch kind.Kind {
	case "Pipeline":
		read = &v1.Pipeline{}
	case "PipelineRun":
		read = &v1.PipelineRun{}
	default:
		return fmt.Errorf("%s is not known here", kind.Kind)
	}
	if err := unmarshalStrict(text, read); err != nil {
		return fmt.Errorf("%s: %w", kind.Kind, err)
	}
	*seen++
	// What admission of a new object is told; the names of objects are looked at only then.
	ctx := apis.WithinCreate(context.Background())
	read.SetDefaults(ctx)
	if prefix := read.GetGenerateName(); prefix != "" && read.GetName() == "" {
		read.SetName(prefix + "abcde")
	}
	if err := read.Validate(ctx); err != nil {
		return fmt.Errorf("%s: %w", kind.Kind, err)
	}
	return nil
}

func replace() {
	var request struct {
		Texts     []string          `json:"texts"`
		Variables map[string]string `json:"variables"`
	}
	if err := json.NewDecoder(os.Stdin).Decode(&request); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	for at, text := range request.Texts {
		request.Texts[at] = substitution.ApplyReplacements(text, request.Variables)
	}
	if err := json.NewEncoder(os.Stdout).Encode(request.Texts); err != nil {
		os.Exit(1)
	}
}

// unmarshalStrict refuses what the API server refuses: unknown fields, in the case that they have, and doubled ones.
func unmarshalStrict(text []byte, into any) error {
	converted, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return err
	}
	doubtful, err := kubejson.UnmarshalStrict(converted, into)
	return errors.Join(append(doubtful, err)...)
}

// Holds objects against the validation of the API server, with its defaults applied first.
//
//	kubernetes-check <objects.yaml    what is wrong, a line each; status 1 where something is
//	kubernetes-check expand <env.json variables of a container as the kubelet gives them to its program
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	reader "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/batch"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	batchvalidation "k8s.io/kubernetes/pkg/apis/batch/validation"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	corevalidation "k8s.io/kubernetes/pkg/apis/core/validation"
	"k8s.io/kubernetes/third_party/forked/golang/expansion"
	kubejson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "expand" {
		expand()
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
	fmt.Printf("%d objects of Kubernetes\n", seen)
	if wrong > 0 || seen == 0 {
		os.Exit(1)
	}
}

func check(text []byte, seen *int) error {
	var kind metav1.TypeMeta
	if err := yaml.Unmarshal(text, &kind); err != nil {
		return err
	}
	var found field.ErrorList
	var err error
	switch kind.APIVersion + " " + kind.Kind {
	case "batch/v1 Job":
		job := &batch.Job{}
		if err = read(text, &batchv1.Job{}, job); err == nil {
			job.Namespace = "default"
			found = batchvalidation.ValidateJob(job, batchvalidation.JobValidationOptions{RequirePrefixedLabels: true})
		}
	case "v1 ConfigMap":
		configMap := &core.ConfigMap{}
		if err = read(text, &corev1.ConfigMap{}, configMap); err == nil {
			configMap.Namespace = "default"
			found = corevalidation.ValidateConfigMap(configMap)
		}
	case "v1 PersistentVolumeClaim":
		claim := &core.PersistentVolumeClaim{}
		if err = read(text, &corev1.PersistentVolumeClaim{}, claim); err == nil {
			claim.Namespace = "default"
			found = corevalidation.ValidatePersistentVolumeClaim(claim, corevalidation.ValidationOptionsForPersistentVolumeClaim(claim, nil))
		}
	default:
		return nil
	}
	*seen++
	if err == nil {
		err = found.ToAggregate()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", kind.Kind, err)
	}
	return nil
}

// read decodes strictly, applies the defaults of the API server, and converts to what its validation takes.
func read(text []byte, versioned, internal any) error {
	if err := unmarshalStrict(text, versioned); err != nil {
		return err
	}
	switch object := versioned.(type) {
	case *batchv1.Job:
		legacyscheme.Scheme.Default(object)
		// The API server makes them, with the uid of the Job.
		manual := false
		object.Spec.ManualSelector = &manual
		object.UID = "1"
		labels := map[string]string{"batch.kubernetes.io/controller-uid": "1", "batch.kubernetes.io/job-name": object.Name,
			"controller-uid": "1", "job-name": object.Name}
		if object.Spec.Template.Labels == nil {
			object.Spec.Template.Labels = map[string]string{}
		}
		for name, value := range labels {
			object.Spec.Template.Labels[name] = value
		}
		object.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"batch.kubernetes.io/controller-uid": "1"}}
	case *corev1.ConfigMap:
		legacyscheme.Scheme.Default(object)
	case *corev1.PersistentVolumeClaim:
		legacyscheme.Scheme.Default(object)
	}
	return legacyscheme.Scheme.Convert(versioned, internal, nil)
}

func expand() {
	var variables []corev1.EnvVar
	if err := json.NewDecoder(os.Stdin).Decode(&variables); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	known := map[string]string{}
	lookup := expansion.MappingFuncFor(known)
	for _, variable := range variables {
		known[variable.Name] = expansion.Expand(variable.Value, lookup)
	}
	if err := json.NewEncoder(os.Stdout).Encode(known); err != nil {
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

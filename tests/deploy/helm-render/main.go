// Renders the templates of a chart as helm does, with the same template language, functions of sprig and YAML writer.
// Standard input: a Job in JSON. Standard output: the rendered texts by path, in JSON. It reads nothing else.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"github.com/ghodss/yaml"
)

type job struct {
	// Paths below the chart, and their texts.
	Templates map[string]string
	// What templates see as the dot: Values, Chart, Release, Capabilities.
	Top map[string]interface{}
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	var asked job
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		return err
	}
	root := template.New("chart").Option("missingkey=zero")
	root.Funcs(functions(root))
	for name, text := range asked.Templates {
		if _, err := root.New(name).Parse(text); err != nil {
			return err
		}
	}
	rendered := map[string]string{}
	for name := range asked.Templates {
		if strings.HasPrefix(path.Base(name), "_") {
			continue
		}
		text, err := execute(root, name, withTemplate(asked.Top, name))
		if err != nil {
			return err
		}
		// Of a value that is not there the library writes this; helm takes it out as well.
		rendered[name] = strings.ReplaceAll(text, "<no value>", "")
	}
	return json.NewEncoder(os.Stdout).Encode(rendered)
}

func withTemplate(top map[string]interface{}, name string) map[string]interface{} {
	all := map[string]interface{}{"Template": map[string]interface{}{"Name": name, "BasePath": "templates"}}
	for key, value := range top {
		all[key] = value
	}
	return all
}

func execute(root *template.Template, name string, dot interface{}) (string, error) {
	var text strings.Builder
	err := root.ExecuteTemplate(&text, name, dot)
	return text.String(), err
}

func functions(root *template.Template) template.FuncMap {
	all := sprig.TxtFuncMap()
	// A chart must not see the environment of who renders it.
	delete(all, "env")
	delete(all, "expandenv")
	all["include"] = func(name string, dot interface{}) (string, error) { return execute(root, name, dot) }
	all["tpl"] = func(text string, dot interface{}) (string, error) {
		inner, err := root.Clone()
		if err != nil {
			return "", err
		}
		if _, err := inner.New("tpl").Parse(text); err != nil {
			return "", err
		}
		return execute(inner, "tpl", dot)
	}
	all["required"] = func(message string, value interface{}) (interface{}, error) {
		if value == nil || value == "" {
			return value, errors.New(message)
		}
		return value, nil
	}
	all["fail"] = func(message string) (string, error) { return "", errors.New(message) }
	all["lookup"] = func(...interface{}) (string, error) {
		return "", errors.New("lookup asks the cluster, which a rendered chart does not have")
	}
	all["toYaml"] = func(value interface{}) (string, error) {
		text, err := yaml.Marshal(value)
		return strings.TrimSuffix(string(text), "\n"), err
	}
	all["fromYaml"] = func(text string) (map[string]interface{}, error) {
		value := map[string]interface{}{}
		return value, yaml.Unmarshal([]byte(text), &value)
	}
	return all
}

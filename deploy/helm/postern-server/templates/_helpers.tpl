{{- define "server.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 53 | trimSuffix "-" -}}
{{- end -}}

{{- define "server.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 53 | trimSuffix "-" -}}
{{- else if contains (include "server.name" .) .Release.Name -}}
{{- .Release.Name | trunc 53 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "server.name" .) | trunc 53 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "server.selector" -}}
app.kubernetes.io/name: {{ include "server.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "server.labels" -}}
{{ include "server.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* What is missing is said before anything is made. */}}
{{- define "server.check" -}}
{{- if not .Values.publicHost -}}
{{- fail "publicHost is missing: give the name or address where visitors reach this server, like --set publicHost=postern.example.com" -}}
{{- end -}}
{{- if and .Values.metrics.port (not .Values.metrics.existingSecret) -}}
{{- fail "metrics.existingSecret is missing: nobody reads metrics without a token" -}}
{{- end -}}
{{- if gt (int .Values.ports.from) (int .Values.ports.to) -}}
{{- fail "ports.from must not be above ports.to" -}}
{{- end -}}
{{- if gt (sub (int .Values.ports.to) (int .Values.ports.from)) 99 -}}
{{- fail "ports: at most 100 ports, because each is a port of the LoadBalancer" -}}
{{- end -}}
{{- end -}}

{{/* What both containers must agree on. */}}
{{- define "server.settings" -}}
- name: POSTERN_PUBLIC_HOST
  value: {{ .Values.publicHost | quote }}
- name: POSTERN_PORT_RANGE
  value: {{ printf "%d-%d" (int .Values.ports.from) (int .Values.ports.to) | quote }}
{{- with .Values.metrics.port }}
- name: POSTERN_METRICS_ADDRESS
  value: {{ printf "0.0.0.0:%d" (int .) | quote }}
{{- end }}
{{- range $name, $value := .Values.settings }}
- name: {{ $name }}
  value: {{ $value | toString | quote }}
{{- end }}
{{- end -}}

{{- define "server.image" -}}
image: {{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
{{- end -}}

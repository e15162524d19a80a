{{- define "gateway.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 53 | trimSuffix "-" -}}
{{- end -}}

{{- define "gateway.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 53 | trimSuffix "-" -}}
{{- else if contains (include "gateway.name" .) .Release.Name -}}
{{- .Release.Name | trunc 53 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "gateway.name" .) | trunc 53 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "gateway.selector" -}}
app.kubernetes.io/name: {{ include "gateway.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "gateway.labels" -}}
{{ include "gateway.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "gateway.secret" -}}
{{- .Values.token.existingSecret | default (include "gateway.fullname" .) -}}
{{- end -}}

{{/* What is missing is said before anything is made. */}}
{{- define "gateway.check" -}}
{{- if not .Values.url -}}
{{- fail "url is missing: give your server's address, like --set url=https://postern.example.com" -}}
{{- end -}}
{{- if and (not .Values.token.value) (not .Values.token.existingSecret) -}}
{{- fail "the node's access token is missing: give token.value, or the name of a secret as token.existingSecret" -}}
{{- end -}}
{{- if and .Values.token.value .Values.token.existingSecret -}}
{{- fail "give either token.value or token.existingSecret, not both" -}}
{{- end -}}
{{- end -}}

{{- define "pms.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- define "pms.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else if contains (include "pms.name" .) .Release.Name }}
{{- .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "pms.name" .) | trunc 50 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "pms.selectorLabels" -}}
app.kubernetes.io/name: {{ include "pms.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "pms.labels" -}}
{{ include "pms.selectorLabels" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "pms.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "pms.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "pms.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end }}
{{- end }}

{{/* Settings that the chart decides must not be given twice, with what to set in their place. */}}
{{- define "pms.checkSettings" -}}
{{- $own := dict "HOST" "nothing: pods listen everywhere" "PORT" "api.service.port" "METRICS_PORT" "nothing: it is 9464" "TEMPORAL_ADDRESS" "temporal.address" "TEMPORAL_NAMESPACE" "temporal.namespace" "TEMPORAL_TLS_CERT" "temporal.tlsSecret" "TEMPORAL_TLS_KEY" "temporal.tlsSecret" "SHUTDOWN_GRACE" "shutdownGraceSeconds" -}}
{{- range $name, $instead := $own -}}
{{- if hasKey $.Values.settings $name -}}
{{- fail (printf "settings.%s: the chart sets it; set %s" $name $instead) -}}
{{- end -}}
{{- end -}}
{{- $secrets := list "DATABASE_URL" "ENCRYPTION_KEY" "SMTP_URL" "OIDC_PROVIDERS" -}}
{{- range $name, $_ := .Values.settings -}}
{{- if or (has $name $secrets) (regexMatch "_(API_KEY|PAYLOAD_KEYS|SECRET|TOKEN|PASSWORD)$|^OTEL_.*_HEADERS$" $name) -}}
{{- fail (printf "settings.%s: it is a secret; put it into the secret that existingSecret names" $name) -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* Secrets as variables of the environment: whatever they hold. */}}
{{- define "pms.secretEnv" -}}
- secretRef:
    name: {{ required "existingSecret: the name of a secret with DATABASE_URL and ENCRYPTION_KEY (docs/kubernetes.md)" .Values.existingSecret }}
{{- range .Values.extraSecrets }}
- secretRef:
    name: {{ . }}
{{- end }}
{{- end }}

{{- define "pms.podSecurity" -}}
runAsNonRoot: true
# The user `node` of the image.
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "pms.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{/* The deployment of one kind of process. Expects root, component, values, command, ports. */}}
{{- define "pms.deployment" -}}
{{- $root := .root -}}
{{- $values := .values -}}
{{- $grace := int $root.Values.shutdownGraceSeconds -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "pms.fullname" $root }}-{{ .component }}
  labels:
    {{- include "pms.labels" . | nindent 4 }}
spec:
  {{- if not .isScaled }}
  replicas: {{ $values.replicas }}
  {{- end }}
  revisionHistoryLimit: 5
  strategy:
    type: RollingUpdate
    # A new process is ready before an old one is stopped.
    rollingUpdate: { maxSurge: 1, maxUnavailable: 0 }
  selector:
    matchLabels:
      {{- include "pms.selectorLabels" . | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "pms.labels" . | nindent 8 }}
        {{- with $values.podLabels }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      annotations:
        # Processes read their settings at startup, so changes restart them.
        checksum/settings: {{ include (print $root.Template.BasePath "/configmap.yaml") $root | sha256sum }}
        {{- with $values.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec:
      serviceAccountName: {{ include "pms.serviceAccountName" $root }}
      automountServiceAccountToken: false
      enableServiceLinks: false
      # Longer than the process waits for work in flight.
      terminationGracePeriodSeconds: {{ add $grace 20 }}
      securityContext:
        {{- include "pms.podSecurity" $root | nindent 8 }}
      {{- with $root.Values.imagePullSecrets }}
      imagePullSecrets:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      containers:
        - name: {{ .component }}
          image: {{ include "pms.image" $root | quote }}
          imagePullPolicy: {{ $root.Values.image.pullPolicy }}
          command: {{ toJson .command }}
          envFrom:
            - configMapRef:
                name: {{ include "pms.fullname" $root }}
            {{- include "pms.secretEnv" $root | nindent 12 }}
          ports:
            {{- toYaml .ports | nindent 12 }}
          startupProbe:
            httpGet: { path: /healthz, port: metrics }
            periodSeconds: 2
            failureThreshold: 60
          livenessProbe:
            httpGet: { path: /healthz, port: metrics }
            periodSeconds: 10
            timeoutSeconds: 5
            failureThreshold: 6
          readinessProbe:
            httpGet: { path: /readyz, port: metrics }
            periodSeconds: 5
            timeoutSeconds: 5
            failureThreshold: 2
          {{- if .drainSeconds }}
          lifecycle:
            preStop:
              # Until load balancers have stopped sending requests.
              sleep: { seconds: {{ .drainSeconds }} }
          {{- end }}
          resources:
            {{- toYaml $values.resources | nindent 12 }}
          securityContext:
            {{- include "pms.containerSecurity" $root | nindent 12 }}
          volumeMounts:
            - name: tmp
              mountPath: /tmp
            {{- if $root.Values.temporal.tlsSecret }}
            - name: temporal-tls
              mountPath: /etc/pms/temporal-tls
              readOnly: true
            {{- end }}
            {{- with $root.Values.extraVolumeMounts }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
      volumes:
        # Uploads in progress.
        - name: tmp
          emptyDir: { sizeLimit: 4Gi }
        {{- if $root.Values.temporal.tlsSecret }}
        - name: temporal-tls
          secret:
            secretName: {{ $root.Values.temporal.tlsSecret }}
        {{- end }}
        {{- with $root.Values.extraVolumes }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      topologySpreadConstraints:
        {{- range $key := list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
        - maxSkew: 1
          topologyKey: {{ $key }}
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels:
              {{- include "pms.selectorLabels" $ | nindent 14 }}
        {{- end }}
      {{- include "pms.placement" $values | nindent 6 }}
{{- end }}

{{/* Where pods of one kind may run. Expects the values of the kind. */}}
{{- define "pms.placement" -}}
{{- with .nodeSelector -}}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{ end -}}
{{- with .tolerations -}}
tolerations:
  {{- toYaml . | nindent 2 }}
{{ end -}}
{{- with .affinity -}}
affinity:
  {{- toYaml . | nindent 2 }}
{{ end -}}
{{- end }}

{{- define "pms.disruptionBudget" -}}
{{- if .values.disruptionBudget.enabled }}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ include "pms.fullname" .root }}-{{ .component }}
  labels:
    {{- include "pms.labels" . | nindent 4 }}
spec:
  maxUnavailable: {{ .values.disruptionBudget.maxUnavailable }}
  # A pod that is not ready serves no caller, and must not prevent draining a node.
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      {{- include "pms.selectorLabels" . | nindent 6 }}
{{- end }}
{{- end }}

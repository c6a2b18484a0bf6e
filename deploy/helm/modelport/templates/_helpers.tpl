{{- define "modelport.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "modelport.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "modelport.labels" -}}
{{ include "modelport.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "modelport.image" -}}
{{ .Values.image.repository }}{{ if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{- /* Faults of the values that a schema cannot express. */ -}}
{{- define "modelport.check" -}}
{{- if and .Values.persistence.enabled (or (gt (int .Values.replicaCount) 1) .Values.autoscaling.enabled) }}
{{- fail "persistence.enabled keeps the database in the volume of one pod. For more replicas set persistence.enabled=false and DATABASE_URL in existingSecret." }}
{{- end }}
{{- if and (not .Values.persistence.enabled) (not .Values.existingSecret) (not .Values.extraEnv) (not .Values.extraEnvFrom) }}
{{- fail "Without persistence a database is needed: set DATABASE_URL in existingSecret, extraEnvFrom or extraEnv." }}
{{- end }}
{{- if and .Values.serviceMonitor.enabled (not .Values.existingSecret) }}
{{- fail "serviceMonitor.enabled needs existingSecret with the key MODELPORT_METRICS_TOKEN." }}
{{- end }}
{{- if and .Values.ingress.enabled (not .Values.ingress.host) }}
{{- fail "ingress.enabled needs ingress.host." }}
{{- end }}
{{- end }}

{{- /* The pod of the gateway and of the migration. Takes `root` and `command`: serve or migrate. */ -}}
{{- define "modelport.pod" -}}
{{- $serves := eq .command "serve" -}}
{{- with .root }}
metadata:
  labels:
    {{- /* The migration is not behind the Service. */}}
    {{- if $serves }}
    {{- include "modelport.labels" . | nindent 4 }}
    {{- else }}
    app.kubernetes.io/name: {{ .Chart.Name }}-migration
    app.kubernetes.io/instance: {{ .Release.Name }}
    {{- end }}
    {{- with .Values.podLabels }}{{ toYaml . | nindent 4 }}{{ end }}
  {{- if or (and $serves .Values.config) .Values.podAnnotations }}
  annotations:
    {{- if and $serves .Values.config }}
    checksum/config: {{ sha256sum .Values.config }}
    {{- end }}
    {{- with .Values.podAnnotations }}{{ toYaml . | nindent 4 }}{{ end }}
  {{- end }}
spec:
  {{- /* A Service named "modelport" would put MODELPORT_PORT and more into the environment, which the gateway refuses. */}}
  enableServiceLinks: false
  automountServiceAccountToken: {{ ne .Values.serviceAccount.name "" }}
  {{- with .Values.serviceAccount.name }}
  serviceAccountName: {{ . }}
  {{- end }}
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 65532
    runAsGroup: 65532
    fsGroup: 65532
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile: { type: RuntimeDefault }
  {{- if $serves }}
  terminationGracePeriodSeconds: {{ add .Values.drainSeconds .Values.preStopSeconds 30 }}
  {{- else }}
  restartPolicy: Never
  {{- end }}
  containers:
    - name: modelport
      image: {{ include "modelport.image" . }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      args: [{{ ternary "serve" "migrate" $serves }}]
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: { drop: [ALL] }
      env:
        - { name: HOST, value: 0.0.0.0 }
        - { name: PORT, value: "8080" }
        - { name: MODELPORT_DATA_DIR, value: /data }
        - { name: MODELPORT_DRAIN_MS, value: {{ mul .Values.drainSeconds 1000 | quote }} }
        - { name: MODELPORT_ADMIN_LISTEN, value: {{ printf "0.0.0.0:%d" (int .Values.admin.port) | quote }} }
        {{- /* Prometheus asks for pods by their address. */}}
        - name: POD_IP
          valueFrom: { fieldRef: { fieldPath: status.podIP } }
        - name: MODELPORT_ADMIN_HOSTS
          value: {{ concat (list "$(POD_IP)" (printf "%s-admin" (include "modelport.name" .)) (printf "%s-admin.%s" (include "modelport.name" .) .Release.Namespace) (printf "%s-admin.%s.svc" (include "modelport.name" .) .Release.Namespace)) .Values.admin.hosts | join "," | quote }}
        {{- if and $serves .Values.config }}
        - { name: MODELPORT_CONFIG, value: /etc/modelport/modelport.yaml }
        {{- end }}
        {{- with .Values.extraEnv }}{{ toYaml . | nindent 8 }}{{ end }}
      {{- if or .Values.existingSecret .Values.extraEnvFrom }}
      envFrom:
        {{- with .Values.existingSecret }}
        - secretRef: { name: {{ . }} }
        {{- end }}
        {{- with .Values.extraEnvFrom }}{{ toYaml . | nindent 8 }}{{ end }}
      {{- end }}
      {{- if $serves }}
      ports:
        - { name: http, containerPort: 8080 }
        - { name: admin, containerPort: {{ .Values.admin.port }} }
      {{- /* The first start migrates the database. */}}
      startupProbe:
        httpGet: { path: /health, port: http }
        periodSeconds: 2
        failureThreshold: 150
      livenessProbe:
        httpGet: { path: /health, port: http }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet: { path: /ready, port: http }
        periodSeconds: 5
        timeoutSeconds: 5
        failureThreshold: 2
      lifecycle:
        preStop:
          sleep: { seconds: {{ .Values.preStopSeconds }} }
      {{- end }}
      resources: {{ toYaml .Values.resources | nindent 8 }}
      volumeMounts:
        - { name: data, mountPath: /data }
        - { name: tmp, mountPath: /tmp }
        {{- if and $serves .Values.config }}
        - { name: config, mountPath: /etc/modelport, readOnly: true }
        {{- end }}
  volumes:
    - name: tmp
      emptyDir: {}
    - name: data
      {{- if and $serves .Values.persistence.enabled }}
      persistentVolumeClaim: { claimName: {{ .Values.persistence.existingClaim | default (include "modelport.name" .) }} }
      {{- else }}
      emptyDir: {}
      {{- end }}
    {{- /* A migration needs no providers, and its hook runs before the ConfigMap of a release is made. */}}
    {{- if and $serves .Values.config }}
    - name: config
      configMap: { name: {{ include "modelport.name" . }} }
    {{- end }}
  {{- if $serves }}
  {{- with .Values.topologySpreadConstraints }}
  topologySpreadConstraints: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.affinity }}
  affinity: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- end }}
  {{- with .Values.nodeSelector }}
  nodeSelector: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations: {{ toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
{{- end }}

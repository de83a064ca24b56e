/**
 * `bootstrap-service-record.sh`: what the services of a bootstrap write down about themselves, for whoever gathers logs.
 *
 * Source of the contract: openshift/installer `data/data/bootstrap/files/usr/local/bin/bootstrap-service-record.sh`. Only
 * fields with a value are written, in this order: timestamp, preCommand, postCommand, stage, phase, result, errorLine,
 * errorMessage.
 */
export const serviceRecordScript = `#!/usr/bin/env bash
# Sourced by the scripts of services. Notes when a service and its stages begin and end, one JSON object each, in
# /var/log/openshift/SERVICE.json. A script that runs before or after its service says so in PRE_COMMAND or POST_COMMAND.

SERVICE_RECORDS_DIR="\${SERVICE_RECORDS_DIR:-/var/log/openshift}"
SYSTEMD_UNIT_NAME="$(ps -o unit= $$)"
SERVICE_NAME="\${SERVICE_NAME:-\${SYSTEMD_UNIT_NAME%.service}}"

# note PHASE [RESULT [LINE MESSAGE]]: adds one object. The file is replaced at once, so that a reader finds whole JSON.
note() {
  local records="$SERVICE_RECORDS_DIR/$SERVICE_NAME.json"
  mkdir --parents "$SERVICE_RECORDS_DIR"
  [ -e "$records" ] || echo '[]' > "$records"
  jq --arg timestamp "$(date +%Y-%m-%dT%H:%M:%SZ)" \\
    --arg preCommand "\${PRE_COMMAND-}" --arg postCommand "\${POST_COMMAND-}" \\
    --arg stage "\${STAGE_NAME-}" --arg phase "$1" --arg result "\${2-}" \\
    --arg errorLine "\${3-}" --arg errorMessage "\${4-}" \\
    '. + [{$timestamp, $preCommand, $postCommand, $stage, $phase, $result, $errorLine, $errorMessage}
      | with_entries(select(.value != ""))]' \\
    "$records" > "$records.tmp"
  mv "$records.tmp" "$records"
}

# What the script is to its service: the first word of its phases.
part_of_service() {
  if [ -n "\${PRE_COMMAND-}" ]; then echo pre-command
  elif [ -n "\${POST_COMMAND-}" ]; then echo post-command
  else echo service
  fi
}

# The journal of the unit says why: its last three lines.
last_words() {
  journalctl --unit="$SYSTEMD_UNIT_NAME" --lines=3 --output=cat
}

record_service_stage_start() {
  if [ -n "\${STAGE_NAME-}" ]; then
    echo "stage $1 begins while $STAGE_NAME has not ended"
    exit 1
  fi
  STAGE_NAME=\${1:?a stage has a name}
  note "stage start"
}

# end_stage RESULT [LINE MESSAGE]
end_stage() {
  if [ -z "\${STAGE_NAME-}" ]; then
    echo "a stage ends that has not begun"
    exit 1
  fi
  note "stage end" "$@"
  STAGE_NAME=
}

record_service_stage_success() {
  end_stage success
}

record_service_stage_failure() {
  end_stage failure "$(caller 0)" "$(last_words)"
}

# A stage that is still open ends as its service does.
record_service_exit() {
  local end=(success)
  [ "$1" -eq 0 ] || end=(failure "$(caller 0)" "$(last_words)")
  [ -z "\${STAGE_NAME-}" ] || end_stage "\${end[@]}"
  note "$(part_of_service) end" "\${end[@]}"
}

note "$(part_of_service) start"
trap 'record_service_exit $?' EXIT
`

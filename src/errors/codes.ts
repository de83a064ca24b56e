/**
 * Every way Sallyport can fail on purpose.
 *
 * One line per code: what the process exits with, whether the same request may succeed when it is simply made again,
 * and the next step for a person who can see only the message. `docs/errors.md` is printed from this table.
 */
interface ErrorCodeEntry {
  /** Process exit status when this error ends a command (design.md 5). */
  readonly exitCode: number
  /** True where the very same request may succeed a moment later. */
  readonly retryable: boolean
  readonly hint: string
}

export const errorCodes = {
  // What was asked for
  USAGE: { exitCode: 64, retryable: false, hint: 'Run the command with --help: it ends with examples.' },
  CONFIG_INVALID: {
    exitCode: 78,
    retryable: false,
    hint: 'Correct the file at the place named above and run the same command again; nothing was changed.',
  },
  PLAN_INVALID: {
    exitCode: 78,
    retryable: false,
    hint: 'Make the plan anew with sallyport mirror --plan-only FILE; nothing was changed.',
  },
  REFERENCE_INVALID: {
    exitCode: 64,
    retryable: false,
    hint: 'Write an image as HOST[:PORT]/PATH:TAG or HOST[:PORT]/PATH@sha256:HEX.',
  },
  DIGEST_INVALID: {
    exitCode: 1,
    retryable: false,
    hint: 'A digest is sha256: and 64, or sha512: and 128, lower-case hex digits.',
  },
  // What is wanted of operator catalogs
  CATALOG_INVALID: {
    exitCode: 1,
    retryable: false,
    hint: 'The catalog is broken at the place named above, and opm refuses it as well. Take another tag or digest of the catalog, or tell its maintainer.',
  },
  CATALOG_PACKAGE_UNKNOWN: {
    exitCode: 1,
    retryable: false,
    hint: 'Correct the name under packages, or take it out: sallyport list operators --catalog CATALOG shows the packages that are there. Catalogs of other versions of OpenShift have other packages.',
  },
  CATALOG_CHANNEL_UNKNOWN: {
    exitCode: 1,
    retryable: false,
    hint: 'Correct the name under channels (or defaultChannel): sallyport list operators --catalog CATALOG --package PACKAGE shows the channels that are there.',
  },
  CATALOG_SELECTION_INVALID: {
    exitCode: 1,
    retryable: false,
    hint: 'Change what is asked for of that package: sallyport catalog explain PACKAGE draws its channels and says what is in and what is out.',
  },
  // What a registry or a file contains
  MANIFEST_INVALID: {
    exitCode: 1,
    retryable: false,
    hint: 'The registry answered with something that is no image manifest. Look at it with: sallyport resolve, or curl the URL above.',
  },
  MANIFEST_UNKNOWN: {
    exitCode: 1,
    retryable: false,
    hint: 'Check the name, the tag or digest, and that the credentials may read this repository.',
  },
  BLOB_UNKNOWN: {
    exitCode: 1,
    retryable: false,
    hint: 'The manifest names a blob that this registry does not have: the image there is incomplete. Mirror it again from its origin.',
  },
  BLOB_DIGEST_MISMATCH: {
    exitCode: 1,
    retryable: true,
    hint: 'The bytes changed on the way. Run again; if the same digest fails twice, suspect a proxy that rewrites content, or the disk of that registry.',
  },
  BLOB_SIZE_MISMATCH: {
    exitCode: 1,
    retryable: true,
    hint: 'The transfer was cut, or the registry holds other bytes under this digest. Run again; what arrived whole is kept.',
  },
  LAYER_UNSAFE: {
    exitCode: 1,
    retryable: false,
    hint: 'A layer names a path outside its root. Do not trust this image; ask where it came from.',
  },
  PAYLOAD_INVALID: {
    exitCode: 1,
    retryable: false,
    hint: 'This image is no OpenShift release image (no release-manifests/image-references). Name the ocp-release image, not a component.',
  },
  TOOL_ABSENT: {
    exitCode: 1,
    retryable: false,
    hint: 'Not every release has every tool. Take it out of a release that has it, or name another platform with --command-os.',
  },
  BOOT_IMAGES_INVALID: {
    exitCode: 1,
    retryable: false,
    hint: 'Take the file anew: 0000_50_installer_coreos-bootimages.yaml of the release, or the output of openshift-install coreos print-stream-json.',
  },
  BOOT_IMAGE_ABSENT: {
    exitCode: 1,
    retryable: false,
    hint: 'Correct platform.bootImages in the configuration: name a platform, architecture and format that the release has.',
  },
  RELEASE_ABSENT: {
    exitCode: 1,
    retryable: false,
    hint: 'Name a release that is there: sallyport archive ls DIR --images lists the images of archives, of release images too.',
  },
  // Releases and the updates between them
  GRAPH_INVALID: {
    exitCode: 1,
    retryable: false,
    hint: 'What came is no usable update graph. Look at it with curl; a proxy or UPDATE_URL_OVERRIDE may lead to something else than an update service.',
  },
  GRAPH_DATA_INVALID: {
    exitCode: 1,
    retryable: false,
    hint: 'The graph image is made of the archive from https://api.openshift.com/api/upgrades_info/graph-data. Look at what came with tar tzf; a proxy may answer with something else.',
  },
  RELEASE_UNKNOWN: {
    exitCode: 1,
    retryable: false,
    hint: 'Name a version that the channel has, or the channel that has this version.',
  },
  UPDATE_PATH_UNKNOWN: {
    exitCode: 1,
    retryable: false,
    hint: 'Choose a target that can be reached, or begin at a release that leads there.',
  },
  // What is carried across
  ARCHIVE_INVALID: {
    exitCode: 1,
    retryable: false,
    hint: 'This is no archive that can be read, or its index is damaged. Carry it again, or ask the other side to make it anew.',
  },
  ARCHIVE_DAMAGED: {
    exitCode: 1,
    retryable: false,
    hint: 'Find out what is damaged with sallyport archive verify --repair-list FILE, and carry that file to the side that made the archive.',
  },
  ARCHIVE_INCOMPLETE: {
    exitCode: 1,
    retryable: false,
    hint: 'Put every volume of the archive into the directory; sallyport archive ls names those that are missing.',
  },
  ARCHIVE_UNFINISHED: {
    exitCode: 1,
    retryable: false,
    hint: 'Run the command that began it again: it goes on where it stopped.',
  },
  ARCHIVE_EXISTS: {
    exitCode: 1,
    retryable: false,
    hint: 'Move the archive that is there to another directory, or name another one for this.',
  },
  ARCHIVE_VOLUME_TOO_LARGE: {
    exitCode: 1,
    retryable: false,
    hint: 'Set a smaller archiveSize in the configuration: on FAT a file has less than 4 GiB, and ulimit -f can set another limit.',
  },
  KEY_INVALID: {
    exitCode: 1,
    retryable: false,
    hint: 'Name a key file in PEM: Ed25519, ECDSA P-256 or P-384, or RSA; the private half signs, the public half verifies.',
  },
  SIGNATURE_INVALID: {
    exitCode: 1,
    retryable: false,
    hint: 'What came is not what was signed. Do not use it; have it sent again, and ask who had it in their hands.',
  },
  POLICY_INVALID: {
    exitCode: 78,
    retryable: false,
    hint: 'Correct policy.json or registries.d at the place named above (man containers-policy.json, containers-registries.d); nothing was changed.',
  },
  POLICY_REJECTED: {
    exitCode: 1,
    retryable: false,
    hint: 'Ask who publishes the image for its signature; or, where it is to be trusted unsigned, say so in policy.json with insecureAcceptAnything for its repository.',
  },
  SIGNATURE_MISSING: {
    exitCode: 1,
    retryable: false,
    hint: 'Check that the version is a published one and that the source holds its signatures: a mirror made without them has none.',
  },
  SIGNATURE_UNAVAILABLE: {
    exitCode: 1,
    retryable: true,
    hint: 'Check the proxy settings and the firewall for this host, or name a signature store that can be reached with OCP_SIGNATURE_URL (also file:///DIR); then run the same command again.',
  },
  ARCHIVE_OUT_OF_ORDER: {
    exitCode: 1,
    retryable: false,
    hint: 'Load the archives that come before it first, or ask for one made from a receipt of this side, or for a full one.',
  },
  ARCHIVE_OTHER_TARGET: {
    exitCode: 1,
    retryable: false,
    hint: 'Load the archive that was made for this target, or have one made from a receipt of it.',
  },
  RECEIPT_INVALID: {
    exitCode: 1,
    retryable: false,
    hint: 'Have the receipt made anew with sallyport archive receipt, or make a full archive: --full.',
  },
  REPAIR_LIST_INVALID: {
    exitCode: 1,
    retryable: false,
    hint: 'Carry the file again as sallyport archive verify --repair-list wrote it: it is not to be edited.',
  },
  // Talking to a registry
  REGISTRY_UNREACHABLE: {
    exitCode: 1,
    retryable: true,
    hint: 'Check the host name, the port, the firewall and the proxy settings (https_proxy, no_proxy); then run the same command again.',
  },
  REGISTRY_TLS: {
    exitCode: 1,
    retryable: false,
    hint: 'Put the CA of this registry into /etc/containers/certs.d/HOST:PORT/ca.crt, or name it with SSL_CERT_FILE.',
  },
  REGISTRY_UNAUTHORIZED: {
    exitCode: 1,
    retryable: false,
    hint: 'Log in to this registry (podman login), or name the file with the credentials: --authfile or REGISTRY_AUTH_FILE.',
  },
  REGISTRY_DENIED: {
    exitCode: 1,
    retryable: false,
    hint: 'These credentials may not do this in this repository. Ask its owner for the right.',
  },
  REGISTRY_RATE_LIMITED: {
    exitCode: 1,
    retryable: true,
    hint: 'The registry asks for fewer requests. Wait the time it names and run again; what arrived is kept.',
  },
  REGISTRY_FAILED: {
    exitCode: 1,
    retryable: true,
    hint: 'The registry is in trouble (5xx). Look at its log and disk; then run the same command again: what arrived is kept.',
  },
  REGISTRY_PROTOCOL: {
    exitCode: 1,
    retryable: false,
    hint: 'This server does not speak the OCI distribution protocol as specified. Check the port and the path.',
  },
  REGISTRY_STALLED: {
    exitCode: 1,
    retryable: true,
    hint: 'No byte came for a while. Check the link; the run goes on from the last byte that arrived.',
  },
  REGISTRY_BLOCKED: {
    exitCode: 1,
    retryable: false,
    hint: 'registries.conf forbids this source. Remove blocked = true there, or mirror from another one.',
  },
  REGISTRY_SPARSE_REFUSED: {
    exitCode: 1,
    retryable: false,
    hint: 'Take platforms out of the configuration, and all of them are mirrored; or have the registry take such an index: validation.manifests.indexes.platforms: none (distribution 3), FEATURE_SPARSE_INDEX: true (Quay), sallyport registry serve --sparse-index allow. docker-registry 2, Harbor and Nexus never do.',
  },
  REGISTRY_DELETE_REFUSED: {
    exitCode: 1,
    retryable: false,
    hint: 'Allow deletion there and run the same command again: docker-registry needs REGISTRY_STORAGE_DELETE_ENABLED=true, and deletes tags alone from version 3 on; an embedded registry must not be --read-only; Quay and Harbor ask for the right to delete.',
  },
  // Reading from the web
  WEB_UNREACHABLE: {
    exitCode: 1,
    retryable: true,
    hint: 'Check the host name, the firewall and the proxy settings (https_proxy, no_proxy), and whether the service is up; then run the same command again.',
  },
  WEB_REFUSED: {
    exitCode: 1,
    retryable: false,
    hint: 'Check the URL, and whether the server wants a name and a password; look at it with curl -v.',
  },
  WEB_TLS: {
    exitCode: 1,
    retryable: false,
    hint: 'Name the CA of this server, or of the proxy that looks into TLS, with --ca FILE or SSL_CERT_FILE.',
  },
  WEB_INVALID: {
    exitCode: 1,
    retryable: false,
    hint: 'The server, or a proxy before it, answers with something else than what is asked for. Look at the URL with curl -v.',
  },
  GRAPH_CHANNEL_UNKNOWN: {
    exitCode: 1,
    retryable: false,
    hint: 'List the channels that there are: sallyport list releases --version 4.18 --channels.',
  },
  GRAPH_UNAVAILABLE: {
    exitCode: 1,
    retryable: false,
    hint: 'Look at the update service with curl -H "Accept: application/json"; another one is named with UPDATE_URL_OVERRIDE. Where there is none, name the release itself: mirror.platform.release.',
  },
  // registries.conf
  REGISTRIES_CONF_INVALID: {
    exitCode: 78,
    retryable: false,
    hint: 'Correct registries.conf: podman and the nodes would refuse it too.',
  },
  MIRROR_SET_INVALID: {
    exitCode: 78,
    retryable: false,
    hint: 'Correct the mirror set or image configuration named above: the machine config operator refuses it too, and then writes none of the mirrors to the nodes.',
  },
  REFERENCE_REWRITE_INVALID: {
    exitCode: 1,
    retryable: false,
    hint: 'Correct the location in that entry; where a host with a port is meant, give it an entry of its own. podman and the nodes would fail too, without trying a mirror.',
  },
  // Ignition
  IGNITION_INVALID: {
    exitCode: 78,
    retryable: false,
    hint: 'sallyport ignition validate FILE names every fault with its line and column; nothing was changed.',
  },
  IGNITION_REMOTE: {
    exitCode: 1,
    retryable: false,
    hint: 'Only what is in the file itself is used. With --fetch what is at http and https is read from there; for s3, gs, arn and tftp fetch it by hand, and put it into the config as a data URL.',
  },
  REDACTION_INCOMPLETE: {
    exitCode: 1,
    retryable: false,
    hint: 'Take what is named above out of the config by hand before you share it, and tell us what it was (without the secret).',
  },
  // A cluster
  KUBECONFIG_INVALID: {
    exitCode: 78,
    retryable: false,
    hint: 'Use a kubeconfig with a token or a client certificate; where the login is done by a program, save the objects instead: oc get pods,nodes,clusterversion,catalogsources,imagestreams -A -o json > FILE',
  },
  CLUSTER_UNREADABLE: {
    exitCode: 1,
    retryable: true,
    hint: 'Check the API URL, its CA, and that this user may list pods, nodes and the like in all namespaces (oc auth can-i list pods -A); or save the objects with: oc get … -A -o json > FILE',
  },
  // The disk
  STORE_LOCKED: {
    exitCode: 1,
    retryable: true,
    hint: 'Another process is at work here. Wait for it to end, or stop it.',
  },
  STORE_CORRUPT: {
    exitCode: 1,
    retryable: false,
    hint: 'The disk returned other bytes than were stored. Check the disk; delete the blob and mirror again.',
  },
  DISK_FULL: {
    exitCode: 1,
    retryable: false,
    hint: 'Free space on this disk and run the same command again: what is complete is kept.',
  },
  FILE_ABSENT: {
    exitCode: 1,
    retryable: false,
    hint: 'sallyport files ls lists the files that are there.',
  },
  FILE_MISMATCH: {
    exitCode: 1,
    retryable: false,
    hint: 'The file there is another one than its checksum says. Compare the checksum with what the publisher tells, and correct url, path or sha256 in the configuration.',
  },
  FILE_EXISTS: {
    exitCode: 1,
    retryable: false,
    hint: 'Name another place with --to, or replace what is there with --force.',
  },
  FILE_UNWRITABLE: {
    exitCode: 1,
    retryable: false,
    hint: 'Name a directory that this user may write to.',
  },
  FILE_UNREADABLE: {
    exitCode: 1,
    retryable: false,
    hint: 'Check that the file exists and that this user may read it.',
  },
  // Other programs
  CHART_INVALID: {
    exitCode: 1,
    retryable: false,
    hint: 'Look at it with helm show chart, or name another version; helm lint tells what is wrong with a chart of your own.',
  },
  CHART_UNKNOWN: {
    exitCode: 1,
    retryable: false,
    hint: 'Correct the name or version of the chart in the configuration; helm search repo --versions lists what a repository has.',
  },
  HELM_ABSENT: {
    exitCode: 1,
    retryable: false,
    hint: 'Install helm 3 (https://helm.sh/docs/intro/install, or the OpenShift web console under Command line tools) on the PATH of this machine, or name the images in additionalImages.',
  },
  HELM_FAILED: {
    exitCode: 1,
    retryable: false,
    hint: 'A chart that asks for values gets them with values: [FILE] and includeDefaults: false in the configuration. Try with helm template NAME CHART --values FILE.',
  },
  PROGRAM_FAILED: {
    exitCode: 1,
    retryable: false,
    hint: 'Run the program named above by hand: it must be installed, on the PATH, and work for this user.',
  },
  // The step registry
  STEP_REGISTRY_INVALID: {
    exitCode: 78,
    retryable: false,
    hint: 'Correct the files named above, or check out a commit of the registry that passes sallyport steps validate.',
  },
  STEPS_UNKNOWN: {
    exitCode: 1,
    retryable: false,
    hint: 'sallyport steps ls --search WORD lists what the registry has; KIND/NAME tells a chain from a step of the same name.',
  },
  STEPS_UNRESOLVED: {
    exitCode: 1,
    retryable: false,
    hint: 'Each line says where the value is missing or to spare: give it in env of the test or the workflow, or take it out there.',
  },
  // Making a platform and removing it
  UNDO_INVALID: {
    exitCode: 1,
    retryable: false,
    hint: 'The journal of this run has a record that this version cannot undo. Use the version that wrote it, or remove by hand what the record names.',
  },
  LAB_UNAVAILABLE: {
    exitCode: 1,
    retryable: false,
    hint: 'The lab in namespaces needs Linux, root, and the programs ip and nft (packages iproute2 and nftables).',
  },
  LAB_FAILED: {
    exitCode: 1,
    retryable: true,
    hint: 'Run the same command again: what is there of the lab is completed. If it fails in the same way, tear the lab down and begin anew.',
  },
  // Serving
  LISTEN_FAILED: {
    exitCode: 1,
    retryable: false,
    hint: 'Choose a free port with --listen HOST:PORT, or stop the program that uses this one.',
  },
  // Proving
  QUICKSTART_FAILED: {
    exitCode: 1,
    retryable: false,
    hint: 'This is a fault of sallyport or of this machine. Run sallyport quickstart --dir DIR, and report it with what is in DIR.',
  },
  // Runs
  JOURNAL_CORRUPT: {
    exitCode: 1,
    retryable: false,
    hint: 'The disk returned other bytes than were written, or somebody changed the file. Keep the directory of the run; what it made is named in the lines before, in those of type undo.recorded.',
  },
  JOURNAL_NEWER: {
    exitCode: 1,
    retryable: false,
    hint: 'A newer Sallyport wrote it: go on with that one.',
  },
  RUN_UNKNOWN: {
    exitCode: 64,
    retryable: false,
    hint: 'sallyport runs lists the runs that are here; --runs DIR looks elsewhere.',
  },
  RUN_OVER: {
    exitCode: 1,
    retryable: false,
    hint: 'Begin anew with sallyport run WORKFLOW --new; or run all of it again in the same run with sallyport resume RUN --from FIRST-STEP.',
  },
  RUN_ELSEWHERE: {
    exitCode: 1,
    retryable: false,
    hint: 'Go on where it was imported. Where it never arrived, sallyport resume RUN --anyway goes on here, and sallyport run WORKFLOW --new begins another.',
  },
  RUN_OF_ANOTHER: {
    exitCode: 1,
    retryable: false,
    hint: 'Go on as the user that it belongs to, or begin a run of your own with sallyport run WORKFLOW --new.',
  },
  RUN_EXISTS: {
    exitCode: 1,
    retryable: false,
    hint: 'Go on with the one that is here (sallyport run show RUN), or import into another directory with --runs DIR.',
  },
  RUN_FILE_INVALID: {
    exitCode: 1,
    retryable: false,
    hint: 'Carry the file again, and compare its SHA-256 with what run export printed on the other side; nothing was imported.',
  },
  WORKFLOW_UNKNOWN: {
    exitCode: 64,
    retryable: false,
    hint: 'The built-in workflow is called disconnected; those of a step registry are listed with sallyport steps ls --kind workflow --registry DIR.',
  },
  EXPORT_IMPOSSIBLE: {
    exitCode: 1,
    retryable: false,
    hint: 'Make the script shorter, or leave the variable out: what cannot be exported as it is, is not exported.',
  },
  STEP_UNKNOWN: { exitCode: 64, retryable: false, hint: 'sallyport plan WORKFLOW lists the steps by their names.' },
  STEP_INPUT: {
    exitCode: 1,
    retryable: false,
    hint: 'A step before this one has not given what it needs: run it (sallyport resume RUN --rerun STEP), or leave this step out with --skip STEP --reason WHY.',
  },
  STEP_OUTPUT: {
    exitCode: 1,
    retryable: false,
    hint: 'This is a fault of the step. Report it with what it printed (sallyport logs RUN STEP).',
  },
  STEP_FAILED: {
    exitCode: 1,
    retryable: false,
    hint: 'Its log says more: sallyport logs RUN STEP.',
  },
  STEP_TRANSIENT: {
    exitCode: 1,
    retryable: true,
    hint: 'Its log says more: sallyport logs RUN STEP. It is worth trying again: sallyport resume RUN.',
  },
  STAGE_UNAVAILABLE: {
    exitCode: 1,
    retryable: false,
    hint: 'Do it by hand as docs/stages.md says, and tell so: sallyport resume RUN --mark-done STEP --reason WHY. The platform lab has all ten stages.',
  },
  SECRET_ABSENT: {
    exitCode: 1,
    retryable: false,
    hint: 'Put it into the file, or the variable of the environment, that is named above, and run the same command again.',
  },
  UNDO_UNKNOWN: {
    exitCode: 1,
    retryable: false,
    hint: 'This version does not know how to take that away: use the one that made it (run show names it), or take it away by hand and run teardown again with --forget ID.',
  },
  // Ending
  MIRROR_INCOMPLETE: {
    exitCode: 1,
    retryable: true,
    hint: 'Run the same command again: what arrived is kept and not moved twice.',
  },
  INTERRUPTED: { exitCode: 130, retryable: true, hint: 'Run the same command again: it goes on where it stopped.' },
} as const satisfies Record<string, ErrorCodeEntry>

export type ErrorCode = keyof typeof errorCodes

/** Every program that scripts of a bootstrap host call and that the sandbox does not have: who answers in its place. */

import { shellQuote } from '../../host/shell-quote.ts'
import type { BootstrapConfig } from '../../openshift/bootstrap/bootstrap-config.ts'
import type { StandInCall } from '../sandbox/sandbox.ts'
import { type Answer, answerScript } from './answer.ts'
import { type JqCall, runJq } from './jq.ts'
import { answerOstree, answerRpmOstree } from './node-image.ts'
import { answerOc } from './oc.ts'
import { Podman } from './podman.ts'
import type { StandInWorld } from './world.ts'

type Program = (call: StandInCall) => Promise<Answer> | Answer

/** A call and what became of it. */
export interface AnsweredCall {
  readonly call: StandInCall
  readonly status: number
}

export interface StandIns {
  /** Programs that must be there as files. */
  readonly names: readonly string[]
  readonly answer: (call: StandInCall) => Promise<string>
}

/** Waits are shortened to this, in seconds: a loop is seen for what it is, without the machine getting hot. */
const longestSleep = 0.02

export interface StandInEvents {
  /** Told of every call before its answer goes in. */
  readonly onCall: (answered: AnsweredCall) => void
  /** Told of what nobody knows: it is taken as successful. */
  readonly onUnknown: (what: string) => void
}

export function createStandIns(world: StandInWorld, { onCall, onUnknown }: StandInEvents): StandIns {
  const podman = new Podman(world)
  const programs: Readonly<Record<string, Program>> = {
    ...quiet,
    podman: (call) => podman.answer(call),
    oc: (call) => answerOc(call, world),
    kubectl: (call) => answerOc(call, world),
    ostree: (call) => answerOstree(call, world),
    'rpm-ostree': answerRpmOstree,
    crictl: (call) => podman.answer(call),
    journalctl: (call) => ({ stdout: lastLines(world.journal(call.unit), call.args) }),
    dig: async ({ args }) => ({ stdout: lines(await world.resolveName(nameIn(args))) }),
    nslookup: async ({ args }) => ({ status: (await world.resolveName(nameIn(args))).length > 0 ? 0 : 1 }),
    curl: ({ args }) => ({ stdout: args.some((word) => word.includes('%{http_code}')) ? '200\n' : '' }),
    sleep: ({ args }) => ({ exec: `/.host/usr/bin/sleep ${Math.min(Number(args[0]) || longestSleep, longestSleep)}` }),
    ps: ({ args, unit }) => ({ stdout: args.some((word) => word.startsWith('unit')) ? `${unit}\n` : '' }),
    uname: ({ args }) => ({ stdout: `${args.includes('-m') ? machineNames[world.architecture] : 'Linux'}\n` }),
    arch: () => ({ stdout: `${machineNames[world.architecture]}\n` }),
    hostname: () => ({ stdout: 'bootstrap\n' }),
    // Not installed: so says a machine that was booted from the bare image, and the generator then wants the node image.
    rpm: ({ args }) => ({ status: args.includes('-q') ? 1 : 0 }),
    // Only where the machine has none.
    jq: ({ args, input }) => jq({ args, input }, onUnknown),
    kubelet: goesOn,
    // Until 4.7 the kubelet was one of its faces.
    hyperkube: goesOn,
    sudo: ({ args }) => ({
      exec: args.filter((word) => !/^-|^\w+=/.test(word)).length > 0 ? withoutSudo(args) : 'true',
    }),
  }
  const names = [...new Set([...Object.keys(programs), ...namedPrograms(world.bootstrap)])]
  const answer = async (call: StandInCall): Promise<string> => {
    if (!names.includes(call.name)) onUnknown(call.name)
    const answered = (await programs[call.name]?.(call)) ?? {}
    onCall({ call, status: answered.status ?? 0 })
    return answerScript(answered)
  }
  return { names, answer }
}

function jq(call: JqCall, onUnknown: (what: string) => void): Answer {
  const printed = runJq(call)
  if (printed === undefined) onUnknown(`jq ${call.args.join(' ')}`)
  return { stdout: printed ?? '' }
}

/** What runs as long as the machine does. */
const goesOn: Program = () => ({ exec: '/.host/usr/bin/sleep infinity' })

/** These work on the machine itself, and there is none. */
const quiet: Readonly<Record<string, Program>> = Object.fromEntries(
  `agetty chcon chgrp chown chpasswd coreos-installer crio dnsmasq findmnt firewall-cmd getenforce getsebool gpasswd groupadd
   hostnamectl ip iptables kill killall logger losetup lsblk mkfs modprobe mount nft nmcli passwd pkill reboot restorecon rsync
   runcon semanage semodule setenforce setfacl setsebool shutdown sysctl systemctl systemd-run systemd-tmpfiles timedatectl
   udevadm umount update-ca-trust useradd usermod virsh`
    .split(/\s+/)
    .map((name) => [name, () => ({})]),
)

/** Programs that scripts and units call by their path: they must be there as files. */
function namedPrograms({ files, units }: BootstrapConfig): readonly string[] {
  const scripts = [...files.values()].filter(({ path }) => path.startsWith('/usr/local/bin/'))
  const texts = [
    ...scripts.map(({ text }) => text),
    ...units.flatMap(({ text = '', dropIns }) => [text, ...dropIns.map((one) => one.text)]),
  ]
  return texts.flatMap((text) =>
    [...text.matchAll(/(?<![\w/.-])(?:\/usr)?\/s?bin\/([\w.-]+)/g)].map(([, name = '']) => name),
  )
}

/** As `uname -m` says them. */
const machineNames: Readonly<Record<string, string>> = {
  amd64: 'x86_64',
  arm64: 'aarch64',
  ppc64le: 'ppc64le',
  s390x: 's390x',
}

/** `journalctl --unit=U --lines=N`: of the unit that asks. */
function lastLines(journal: string, args: readonly string[]): string {
  const text = args.join(' ')
  const count = Number(/(?:--lines|-n)[= ]?(\d+)/.exec(text)?.[1] ?? Number.POSITIVE_INFINITY)
  const all = journal.split('\n').filter((line) => line !== '')
  return lines(count === Number.POSITIVE_INFINITY ? all : all.slice(-count))
}

function nameIn(args: readonly string[]): string {
  return args.find((word) => /^[\w.-]+$/.test(word) && !word.startsWith('-') && !word.startsWith('+')) ?? ''
}

function lines(texts: readonly string[]): string {
  return texts.map((text) => `${text}\n`).join('')
}

/** `sudo [-E] [NAME=VALUE] COMMAND …` */
function withoutSudo(args: readonly string[]): string {
  const start = args.findIndex((word) => !word.startsWith('-'))
  return ['env', ...args.slice(start)].map(shellQuote).join(' ')
}

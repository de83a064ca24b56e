/**
 * What the stages ask of a platform (design.md 1: stages 01 to 04, 08 and 10).
 *
 * Whatever is made is undone from its undo record alone: plain JSON, written to the journal before the thing is made, and
 * read again days later by a process that knows nothing else.
 */

import type { Site } from '../journal/events.ts'

/** Where a command runs: beside the Internet, on the host that is on both networks, behind the gap. */
export const sites = ['connected', 'bastion', 'closed'] as const satisfies readonly Site[]

/** All that is needed to undo one thing. Never holds a secret. */
export interface UndoRecord {
  readonly kind: string
  readonly [value: string]: string | number | boolean
}

/** Resolves when the record is on the disk. */
export type RecordUndo = (undo: UndoRecord) => Promise<void>

/** For whoever makes something. Making again what is there, or half there, completes it. */
export interface Making {
  /** Called before each thing is made. */
  readonly record: RecordUndo
  readonly signal?: AbortSignal
}

export interface PlannedResource {
  readonly kind: string
  readonly name: string
  /** One line for a person: what it is, and where. */
  readonly description: string
}

/** A name, and the address that it has at each site; a site that must not know the name is absent. */
export type SiteNames = Readonly<Record<string, Partial<Readonly<Record<Site, string>>>>>

export interface NetworkFacts {
  /** Where a server of this site listens, to be reached from the sites next to it. */
  readonly addresses: Readonly<Record<Site, readonly string[]>>
  readonly names: SiteNames
  /** What this network does not do, each a sentence; empty where it is all that was asked for. */
  readonly limits: readonly string[]
}

export interface ProxyOptions {
  readonly port: number
  readonly username: string
  readonly password: string
}

export interface ProxyFacts {
  /** Without the password, as who is on that site writes it. */
  readonly urls: Partial<Readonly<Record<Site, string>>>
  /** One line for each request: when, who, which host. */
  readonly accessLog: string
}

export interface PlacedFile {
  /** Relative, with `/`. */
  readonly path: string
  readonly content: string | Uint8Array
  /** Default 0600: most of what is placed is a credential. */
  readonly mode?: number
}

export interface SiteServer {
  readonly site: Site
  /** Unique on the platform: letters, digits, `-`. */
  readonly name: string
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** TCP ports that it listens on when it is ready. */
  readonly ports: readonly number[]
  /** Milliseconds until it must be. */
  readonly readyWithinMs?: number
}

export interface ServingProcess {
  readonly pid: number
  readonly logFile: string
}

export interface SiteCommand {
  readonly site: Site
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly onOutput: (chunk: Uint8Array, stream: 'stdout' | 'stderr') => void
  readonly signal?: AbortSignal
}

/** A destination outside the site that something on the closed side sent packets to. */
export interface TriedDestination {
  readonly address: string
  /** `tcp`, `udp`, or the name or number of another protocol. */
  readonly protocol: string
  /** Of tcp and udp. */
  readonly port?: number
  readonly packets: number
}

/** A name that was asked for over DNS, of a resolver outside the site. */
export interface AskedName {
  /** Ends with `…` where it was too long to be noted whole. */
  readonly name: string
  readonly packets: number
}

/** What the closed network saw since it was made. */
export interface CountedEvidence {
  readonly isProven: true
  /** Packets that were for anywhere else than the site; none of them arrived. */
  readonly leftPackets: number
  readonly tried: readonly TriedDestination[]
  readonly asked: readonly AskedName[]
  readonly sitePackets: number
  /** Packets that the bastion was asked to pass on; none were. */
  readonly forwardedPackets: number
}

/** Where nothing counts packets it says so, and proves nothing. */
export type Evidence = CountedEvidence | { readonly isProven: false; readonly why: string }

export interface ResourceStatus {
  readonly kind: string
  readonly name: string
  readonly isThere: boolean
  readonly detail?: string
}

export interface Provider {
  readonly platform: string
  plan(): Promise<readonly PlannedResource[]>
  makeNetwork(making: Making): Promise<NetworkFacts>
  /** The host on both networks, with a proxy where one is wanted. */
  makeBastion(options: { readonly proxy?: ProxyOptions }, making: Making): Promise<{ readonly proxy?: ProxyFacts }>
  /** Puts files on the bastion, and gives their paths there. */
  placeFiles(files: readonly PlacedFile[], making: Making): Promise<readonly string[]>
  /** The words that run `argv` on a site, for who starts programs itself. */
  command(site: Site, argv: readonly string[]): readonly string[]
  /** Runs a command to its end: its status, or the name of the signal that ended it. */
  run(command: SiteCommand): Promise<number | string>
  /** Starts a server that outlives this process, and waits until it listens. */
  serve(server: SiteServer, making: Making): Promise<ServingProcess>
  evidence(): Promise<Evidence>
  /** What there is of it now. */
  status(): Promise<readonly ResourceStatus[]>
  /** Undoes one thing. That it is gone already is success. */
  remove(undo: UndoRecord): Promise<'removed' | 'gone'>
  /** What is left of it, each a sentence; empty after a remove that did its work. */
  remains(undo: UndoRecord): Promise<readonly string[]>
}

import { createHash } from 'node:crypto'
import { mkdir, open, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import {
  EdgeCertificate,
  Peer,
  PortRoute,
  Route,
  SectionHashes,
  type StateSections,
  TunnelSettings,
} from '@postern/contract/desired-state'
import { writeAtomic } from '@postern/host/files'
import * as z from 'zod/mini'
import { type HeldState, mergeState, StateError } from './held-state.ts'

/** The last state that was applied, on disk: a file for each section, and one that names them all. */
export interface LastGood {
  /** @returns the state of the last life, or undefined when there is none. @throws StateError when it is damaged */
  find(): Promise<HeldState | undefined>
  /** Writes the sections that changed, then the file that names them: at any moment there is a whole state. */
  save(state: HeldState): Promise<void>
}

const Manifest = z.object({
  revision: z.number(),
  hashes: SectionHashes,
  /** Section name → its file, named by what is in it. */
  files: z.record(z.string(), z.string().check(z.regex(/^[A-Za-z0-9-]+\.[0-9a-f]{32}\.json$/))),
})
type Manifest = z.infer<typeof Manifest>

const ROWS = {
  peers: z.array(Peer),
  routes: z.array(Route),
  ports: z.array(PortRoute),
  certificates: z.array(EdgeCertificate),
} as const

/** A section as it was written or read. */
interface Saved {
  content: unknown
  file: string
}

/** Files that are written at a time: the disk takes many nearly as fast as one. */
const AT_ONCE = 16

/** @param path of the file that names the others; theirs is the directory beside it. 0600, for the private keys. */
export function createLastGood(path: string): LastGood {
  const dir = path.replace(/\.json$/, '')
  let saved = new Map<string, Saved>()
  let manifestText: string | undefined

  return {
    async find() {
      const text = await read(path)
      if (text === undefined) return undefined
      try {
        const manifest = Manifest.parse(JSON.parse(text))
        const state = await readState(dir, manifest)
        saved = new Map(
          [...contents(state)].flatMap(([name, content]) => {
            const file = manifest.files[name]
            return file === undefined ? [] : [[name, { content, file }]]
          }),
        )
        return state
      } catch (cause) {
        throw new StateError(
          'The state of the last run is damaged; the server will be asked for a new one.',
          {
            cause,
          },
        )
      }
    },
    async save(state) {
      const next = new Map<string, Saved>()
      const changed: { file: string; text: string }[] = []
      for (const [name, content] of contents(state)) {
        const before = saved.get(name)
        if (before && before.content === content) next.set(name, before)
        else {
          const text = JSON.stringify(content)
          const file = `${name.replace(':', '-')}.${digest(text)}.json`
          next.set(name, { content, file })
          if (file !== before?.file) changed.push({ file, text })
        }
      }
      const text = format(state, next)
      if (text === manifestText) return
      await mkdir(dir, { recursive: true, mode: 0o700 })
      await writeAll(dir, changed)
      await writeAtomic(path, text, 0o600)
      const kept = new Set([...next.values()].map(({ file }) => file))
      const old =
        manifestText === undefined ? await readdir(dir) : [...saved.values()].map(({ file }) => file)
      saved = next
      manifestText = text
      for (const file of old) if (!kept.has(file)) await rm(`${dir}/${file}`, { force: true })
    },
  }
}

/** Each section by its name; the same object as long as nothing in it changed. */
function* contents({ settings, sections }: HeldState): Generator<[string, unknown]> {
  yield ['settings', settings]
  for (const kind of Object.values(sections)) yield* kind
}

function format({ revision, hashes }: HeldState, saved: ReadonlyMap<string, Saved>): string {
  const files = Object.fromEntries([...saved].map(([name, { file }]) => [name, file]))
  return JSON.stringify({ revision, hashes, files } satisfies Manifest)
}

async function readState(dir: string, { revision, hashes, files }: Manifest): Promise<HeldState> {
  const sections: z.infer<typeof StateSections> = { peers: [], routes: [], ports: [], certificates: [] }
  for (const [name, file] of Object.entries(files)) {
    const text = await readFile(`${dir}/${file}`, 'utf8')
    if (!file.endsWith(`.${digest(text)}.json`)) throw new StateError(`${file} is not as it was written.`)
    const content: unknown = JSON.parse(text)
    if (name === 'settings') sections.settings = TunnelSettings.parse(content)
    else if (name.startsWith('peers:')) sections.peers.push(...ROWS.peers.parse(content))
    else if (name.startsWith('routes:')) sections.routes.push(...ROWS.routes.parse(content))
    else if (name.startsWith('ports:')) sections.ports.push(...ROWS.ports.parse(content))
    else sections.certificates.push(...ROWS.certificates.parse(content))
  }
  return mergeState(undefined, { revision, hashes, sections })
}

/** They are all on the disk before the file that names them is. */
async function writeAll(dir: string, files: readonly { file: string; text: string }[]): Promise<void> {
  const left = files.values()
  const hand = async () => {
    for (const { file, text } of left) await writeFile(`${dir}/${file}`, text, { mode: 0o600, flush: true })
  }
  await Promise.all(Array.from({ length: AT_ONCE }, hand))
  if (files.length === 0) return
  const directory = await open(dir, 'r')
  await directory.sync().finally(() => directory.close())
}

async function read(path: string): Promise<string | undefined> {
  return await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw new StateError(`The state of the last run cannot be read: ${error.message}`)
  })
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}

import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream, existsSync, type Stats, statSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { findText, writeAtomic } from '@postern/host/files'
import { renderEdgeInstaller } from './installer.ts'
import { type TarEntry, writeTar } from './tar.ts'

/** What a machine needs to become an edge, by its place below the root of the repository and of the program there. */
const NODE = 'node_modules/.bin/node'
const PARTS = [
  NODE,
  'apps/edge/dist/edge.mjs',
  'apps/edge/dist/holder.mjs',
  'scripts/dist/postern-edge.mjs',
  'scripts/dist/prepare.mjs',
  'scripts/dist/haproxy.mjs',
  'deploy/systemd/postern-edge.service',
  'deploy/systemd/postern-haproxy.service',
  'deploy/systemd/postern-haproxy.timer',
]

/** The edge's program for other machines, compressed. */
export interface EdgeArchive {
  path: string
  size: number
  /** In hex. */
  sha256: string
}

export interface EdgeFiles {
  /** Made at the first call, which takes seconds, and kept. @returns null where the edge was not built */
  archive(): Promise<EdgeArchive | null>
  /** The script that fetches, checks and installs it. */
  installer(): Promise<{ content: Buffer; sha256: string } | null>
}

/** The best compression would take four times as long, for a tenth less. */
const QUICK = { level: 1 }

interface Options {
  rootDir: string
  /** Where the archive is kept. */
  directory: string
  version: string
  /** Where machines reach the server now. */
  publicUrl: () => string
}

/** The edge's program of this server's version, with its own Node, for machines of the same processor. */
export function createEdgeFiles({ rootDir, directory, version, publicUrl }: Options): EdgeFiles {
  const path = join(directory, 'program.tar.gz')
  let made: Promise<EdgeArchive | null> | undefined

  async function make(): Promise<EdgeArchive | null> {
    if (!PARTS.every((part) => existsSync(join(rootDir, part)))) return null
    const files = PARTS.map((part) => ({ part, stat: statSync(join(rootDir, part)) }))
    const key = keyOf(version, files)
    const kept = await findKept(key)
    if (kept) return kept
    await mkdir(directory, { recursive: true, mode: 0o700 })
    const manifest = Buffer.from(`${JSON.stringify({ name: 'postern', version, type: 'module' })}\n`)
    const entries: TarEntry[] = files.map(({ part, stat }) => ({
      name: part,
      mode: part === NODE ? 0o755 : 0o644,
      from: { path: join(rootDir, part), size: stat.size },
    }))
    entries.push({ name: 'package.json', mode: 0o644, from: { content: manifest } })
    const next = `${path}.next`
    await rm(next, { force: true })
    await pipeline(
      Readable.from(writeTar(entries)),
      createGzip(QUICK),
      createWriteStream(next, { mode: 0o600 }),
    )
    const sha256 = await hashOf(next)
    await rename(next, path)
    await writeAtomic(`${path}.json`, JSON.stringify({ key, sha256 }), 0o600)
    return { path, size: statSync(path).size, sha256 }
  }

  /** Made by an earlier start from the same files. It is hashed again, as a part of it would install nothing. */
  async function findKept(key: string): Promise<EdgeArchive | null> {
    const text = await findText(`${path}.json`)
    // Our own file.
    const note = text === undefined ? undefined : (JSON.parse(text) as { key: string; sha256: string })
    if (note?.key !== key || !existsSync(path) || (await hashOf(path)) !== note.sha256) return null
    return { path, size: statSync(path).size, sha256: note.sha256 }
  }

  const archive = () => {
    made ??= make().catch((error: unknown) => {
      made = undefined
      throw error
    })
    return made
  }
  return {
    archive,
    async installer() {
      const found = await archive()
      if (found === null) return null
      const content = Buffer.from(renderEdgeInstaller(publicUrl(), found.sha256, process.arch))
      return { content, sha256: createHash('sha256').update(content).digest('hex') }
    },
  }
}

function keyOf(version: string, files: readonly { part: string; stat: Stats }[]): string {
  const hash = createHash('sha256').update(`${version}\0${process.arch}\0`)
  for (const { part, stat } of files) hash.update(`${part}\0${stat.size}\0${stat.mtimeMs}\0`)
  return hash.digest('hex')
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}

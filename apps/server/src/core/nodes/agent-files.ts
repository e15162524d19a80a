import { createHash } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { renderInstaller } from './installer.ts'

/** Machines for which an agent can have Node inside, as `npm run package` names its files. */
export const SINGLE_FILES = ['linux-x64', 'linux-arm64'] as const
export type SingleFileName = (typeof SINGLE_FILES)[number]

/** A file for other hosts, too large for memory; its `sha256`, in hex, was written beside it. */
export interface SingleFile {
  path: string
  size: number
  sha256: string
}

interface Content {
  content: Buffer
  sha256: string
}

/** The files of the agent that other hosts download; `sha256` in hex. */
export interface AgentFiles {
  /** Needs Node on the host. */
  bundle: Content
  /** Compressed, with Node inside: those that were built. */
  singles: ReadonlyMap<SingleFileName, SingleFile>
  /** The script that chooses between them and has their checksums. */
  readonly installer: Content
}

/** @param publicUrl where nodes reach the server now. @returns null when the agent was not built. */
export function readAgentFiles(rootDir: string, publicUrl: () => string): AgentFiles | null {
  const file = `${rootDir}/apps/agent/dist/postern.mjs`
  if (!existsSync(file)) return null
  const bundle = withHash(readFileSync(file))
  const singles = new Map(SINGLE_FILES.flatMap((name) => findSingle(rootDir, name)))
  const sums = {
    bundle: bundle.sha256,
    x64: sumOf(singles, 'linux-x64'),
    arm64: sumOf(singles, 'linux-arm64'),
  }
  const made = { url: '', installer: withHash(Buffer.alloc(0)) }
  return {
    bundle,
    singles,
    get installer() {
      const url = publicUrl()
      if (url !== made.url)
        Object.assign(made, { url, installer: withHash(Buffer.from(renderInstaller(url, sums))) })
      return made.installer
    },
  }
}

const withHash = (content: Buffer): Content => ({
  content,
  sha256: createHash('sha256').update(content).digest('hex'),
})

const sumOf = (singles: AgentFiles['singles'], name: SingleFileName) => singles.get(name)?.sha256 ?? ''

function findSingle(rootDir: string, name: SingleFileName): [SingleFileName, SingleFile][] {
  const path = `${rootDir}/dist/postern-${name}.gz`
  if (!existsSync(path) || !existsSync(`${path}.sha256`)) return []
  const sha256 = /^[0-9a-f]{64}/.exec(readFileSync(`${path}.sha256`, 'utf8'))?.[0]
  return sha256 ? [[name, { path, size: statSync(path).size, sha256 }]] : []
}

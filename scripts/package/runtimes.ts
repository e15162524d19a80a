import { closeSync, copyFileSync, existsSync, mkdirSync, openSync, readSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { must } from '@postern/host/processes/exec'
import { checkNode, NODE_VERSION, OWN_NODE } from '../bootstrap/node-sums.mjs'
import { type Environment, ROOT } from '../lib/environment.ts'

/** The Node that runs our programs, for one processor. */
export interface Runtime {
  program: string
  licence: string
}

/** Processors for which npm has a Node, by Node's names, and their numbers in byte 18 of an ELF header. */
const PROCESSORS = { x64: 62, arm64: 183 } as const
export type Processor = keyof typeof PROCESSORS

/**
 * Node of this repository's version for a processor, from the same npm packages as the repository's own. Kept below
 * `.postern` for the next time.
 */
export async function fetchRuntime(processor: Processor, environment: Environment): Promise<Runtime> {
  const name = `node-linux-${processor}`
  const dir = join(ROOT, '.postern/runtimes', `${name}-${NODE_VERSION}`)
  const runtime = { program: join(dir, 'node'), licence: join(dir, 'LICENSE') }
  if (!existsSync(runtime.program)) await fetchInto(dir, `${name}@${NODE_VERSION}`, environment)
  assertProcessor(runtime.program, processor)
  await checkNode(runtime.program, processor)
  return runtime
}

async function fetchInto(dir: string, spec: string, environment: Environment): Promise<void> {
  const part = `${dir}.part`
  rmSync(part, { recursive: true, force: true })
  mkdirSync(part, { recursive: true })
  // npm finds its settings through the environment.
  const env = Object.fromEntries(
    Object.entries(environment).flatMap(([key, value]) => (value ? [[key, value]] : [])),
  )
  const pack = ['pack', spec, '--silent', '--pack-destination', part]
  const archive = join(part, (await must('npm', pack, { timeoutMs: 300_000, env })).trim())
  const files = ['package/bin/node', 'package/LICENSE']
  await must('tar', ['-xzf', archive, '-C', part, ...files], { timeoutMs: 60_000 })
  mkdirSync(dir, { recursive: true })
  copyFileSync(join(part, 'package/LICENSE'), join(dir, 'LICENSE'))
  copyFileSync(join(part, 'package/bin/node'), join(dir, 'node'))
  rmSync(part, { recursive: true })
}

/** The repository's Node without debug symbols: 116 instead of 150 MB. */
export async function copyOwnNode(file: string): Promise<void> {
  copyFileSync(OWN_NODE, file)
  await checkNode(file, 'x64')
  await must('strip', ['--strip-unneeded', file], { timeoutMs: 60_000 })
  assertProcessor(file, 'x64')
}

/** @throws unless the file is a program for that processor */
export function assertProcessor(file: string, processor: Processor): void {
  const header = Buffer.alloc(20)
  const open = openSync(file, 'r')
  readSync(open, header)
  closeSync(open)
  const isElf = header.toString('latin1', 0, 4) === '\x7fELF'
  if (!isElf || header.readUInt16LE(18) !== PROCESSORS[processor])
    throw new Error(`${file} is no program for ${processor}`)
}

import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { constants, createGzip } from 'node:zlib'
import { must } from '@postern/host/processes/exec'
import { OWN_NODE } from '../bootstrap/node-sums.mjs'
import { ROOT } from '../lib/environment.ts'
import { assertProcessor, type Processor } from './runtimes.ts'

/**
 * Writes the agent as one program that includes Node and needs none on its host.
 * @param runtime a Node of this repository's version, for the processor
 * @param file where to write it
 */
export async function writeSingleFile(runtime: string, processor: Processor, file: string): Promise<void> {
  const config = `${file}.json`
  writeFileSync(
    config,
    JSON.stringify({
      main: join(ROOT, 'apps/agent/dist/with-node.cjs'),
      mainFormat: 'commonjs',
      executable: runtime,
      output: file,
      disableExperimentalSEAWarning: true,
      // Caches and snapshots only work on the processor and version that made them.
      useSnapshot: false,
      useCodeCache: false,
      // SIGUSR1 would open a debugger; and the environment must not add options.
      execArgv: ['--disable-sigusr1'],
      execArgvExtension: 'none',
    }),
  )
  await must(OWN_NODE, ['--build-sea', config], { timeoutMs: 120_000 })
  rmSync(config)
  assertProcessor(file, processor)
}

/** Writes what the server hands out: `FILE.gz`, and its checksum beside it. @returns both files */
export async function compressForHosts(file: string): Promise<string[]> {
  const target = `${file}.gz`
  const gzip = createGzip({ level: constants.Z_BEST_COMPRESSION })
  await pipeline(createReadStream(file), gzip, createWriteStream(target))
  const sum = createHash('sha256').update(readFileSync(target)).digest('hex')
  writeFileSync(`${target}.sha256`, `${sum}  ${basename(target)}\n`)
  return [target, `${target}.sha256`]
}

import { readFile } from 'node:fs/promises'
import type { HaproxyPaths } from '@postern/render/haproxy-paths'
import { changeFile } from './haproxy-change-file.ts'
import type { RunningHaproxy } from './haproxy-observe.ts'
import { type HaproxyProcess, HaproxyStartError } from './haproxy-process.ts'

/** Beyond this many certificates that keep HAProxy from starting, it starts with the installation's own alone. */
const MAX_TRIES = 10

/**
 * Starts HAProxy from its files. A certificate that it cannot load is taken out of the list instead of keeping all
 * the others down; the next apply finds it missing and says why.
 * @throws HaproxyStartError, ProgramMissingError
 */
export async function startFromFiles(
  haproxy: HaproxyProcess,
  paths: HaproxyPaths,
  mark: string,
  old: RunningHaproxy | undefined,
): Promise<RunningHaproxy> {
  for (let tries = 1; ; tries++) {
    try {
      return await haproxy.start(mark, old)
    } catch (error) {
      const culprit = error instanceof HaproxyStartError ? findCulprit(error.output, paths) : undefined
      if (culprit === undefined || tries > MAX_TRIES) throw error
      await leaveOut(paths, tries === MAX_TRIES ? undefined : culprit)
    }
  }
}

function findCulprit(output: string, paths: HaproxyPaths): string | undefined {
  const named = output.match(/\/[A-Za-z0-9._/-]+\/[1-9]\d*\.pem/g) ?? []
  return named.find((path) => path.startsWith(`${paths.certificates}/`))
}

/** @param path undefined: all of them */
async function leaveOut(paths: HaproxyPaths, path: string | undefined): Promise<void> {
  const lines = (await readFile(paths.certificateList, 'utf8')).split('\n')
  const kept = path === undefined ? [] : lines.filter((line) => line !== '' && line.split(' ')[0] !== path)
  await changeFile(paths.certificateList, kept.map((line) => `${line}\n`).join(''))
}

import { readFile, rm } from 'node:fs/promises'
import type { Exec } from '@postern/host/processes/exec'
import type { HaproxyFiles } from '@postern/render/haproxy/config'
import type { HaproxyPaths } from '@postern/render/haproxy/options'
import { changeFile } from '../files/change-file.ts'
import { findHeld, listBinds } from './binds.ts'
import { type HaproxyProcess, HaproxyStartError, heldPorts } from './process.ts'
import type { RunningHaproxy } from './running.ts'

const CHECK_TIMEOUT = 30_000
/** A failed take-over stops the traffic for two seconds, so it is not tried on every apply. */
const RELOAD_PAUSE = 60_000

export interface Converger {
  /**
   * Makes a HAProxy run with exactly these files, and leaves one that has them already alone.
   * @throws HaproxyStartError: the previous one still runs, with the configuration it had
   */
  converge(files: HaproxyFiles, running: RunningHaproxy | undefined): Promise<RunningHaproxy>
}

export function createConverger(exec: Exec, paths: HaproxyPaths, haproxy: HaproxyProcess): Converger {
  let failed = { mark: '', until: 0 }
  return {
    async converge(files, running) {
      for (const [path, content] of files.others) await changeFile(path, content)
      if (running?.mark === files.mark || !running) {
        await changeFile(paths.config, files.config)
        return running ?? (await startFromFiles(haproxy, paths, files.mark, undefined))
      }
      if (failed.mark === files.mark && Date.now() < failed.until)
        throw new HaproxyStartError('', 'HAProxy could not take over its changed settings')
      const old = await readFile(paths.config, 'utf8')
      await assertUsable(exec, paths, files, old)
      return await takeOver(files, running, old)
    },
  }

  async function takeOver(
    files: HaproxyFiles,
    running: RunningHaproxy,
    old: string,
  ): Promise<RunningHaproxy> {
    await changeFile(paths.config, files.config)
    try {
      return await startFromFiles(haproxy, paths, files.mark, running)
    } catch (error) {
      failed = { mark: files.mark, until: Date.now() + RELOAD_PAUSE }
      await changeFile(paths.config, old)
      throw error
    }
  }
}

/** Before a running HAProxy is asked to hand over: the new configuration is good, and its new ports are free. */
async function assertUsable(
  exec: Exec,
  paths: HaproxyPaths,
  files: HaproxyFiles,
  old: string,
): Promise<void> {
  const next = `${paths.config}.next`
  await changeFile(next, files.config)
  const { code, stderr } = await exec.run('haproxy', ['-c', '-f', next], { timeoutMs: CHECK_TIMEOUT })
  await rm(next, { force: true })
  if (code !== 0) throw new HaproxyStartError(stderr)
  const has = new Set(listBinds(old).map(String))
  const held = await findHeld(listBinds(files.config).filter((bind) => !has.has(String(bind))))
  if (held.size > 0) throw new HaproxyStartError('', heldPorts([...held]))
}

/**
 * With more than this many certificates that keep HAProxy from starting, it starts with only the installation's own.
 */
const MAX_TRIES = 10

/**
 * Starts HAProxy from its files. A certificate that it cannot load is taken out of the list, so that the others work;
 * the next apply finds it missing and reports why.
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

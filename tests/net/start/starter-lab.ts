import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type InstallationPaths, installationPaths } from '@postern/contract/installation'
import { type Lab, startLab } from '@postern/testkit/lab/network'
import type { Running } from '@postern/testkit/processes/exec'
import { until } from '@postern/testkit/until'
import { expect } from 'vitest'

export const ROOT = join(import.meta.dirname, '../../..')
export const PROGRAMS = { start: 'scripts/dist/start.mjs', stop: 'scripts/stop.ts' }
export const script = (name: keyof typeof PROGRAMS) => [process.execPath, join(ROOT, PROGRAMS[name])]

/** A lab in which `npm start` and `npm stop` run on the server's host, on one data directory. */
export interface StarterLab {
  lab: Lab
  dir: string
  paths: InstallationPaths
  env: Record<string, string>
  /** A command that keeps running, like `npm start` on a terminal. */
  begin(command: string[], more?: Record<string, string>): Running
  /**
   * A command that ends on its own.
   * @returns its exit code and its output
   */
  finish(command: string[], more?: Record<string, string>): Promise<{ code: number | null; said: string }>
  /** The pid of a program that the starter runs. */
  childOf(starter: Running, name: 'server' | 'edge'): Promise<number>
  close(): Promise<void>
}

export async function startStarterLab(): Promise<StarterLab> {
  const lab = await startLab()
  const dir = mkdtempSync(join(tmpdir(), 'pt-start-'))
  chmodSync(dir, 0o755)
  const env = {
    POSTERN_DATA_DIR: join(dir, 'data'),
    POSTERN_PUBLIC_HOST: lab.server.address,
    POSTERN_TUNNEL_INTERFACE: `ps${lab.id.slice(-10)}`,
  }
  let starts = 0
  const at: StarterLab = {
    ...{ lab, dir, env, paths: installationPaths(env.POSTERN_DATA_DIR) },
    begin(command, more = {}) {
      const logFile = join(dir, `start-${starts++}.log`)
      return lab.server.start(command, { logFile, env: { ...env, ...more }, cwd: ROOT })
    },
    async finish(command, more) {
      const running = at.begin(command, more)
      const code = await running.exited
      return { code, said: running.output() }
    },
    async childOf(starter, name) {
      const { stdout } = await lab.server.run('ps', '-o', 'pid=,args=', '--ppid', String(starter.pid))
      const line = stdout.split('\n').find((each) => each.includes(`apps/${name}/dist/${name}.mjs`))
      if (!line) throw new Error(`no ${name} among: ${stdout}`)
      return Number.parseInt(line, 10)
    },
    async close() {
      await at.finish(script('stop'))
      await lab.close()
      rmSync(dir, { recursive: true, force: true })
    },
  }
  return at
}

export async function untilRunning(starter: Running): Promise<void> {
  const isDone = () => !starter.isRunning() || starter.output().includes('Ctrl-C')
  await until('the start to be complete', isDone, { timeoutMs: 120_000 })
  expect(starter.output()).toContain('Ctrl-C')
}

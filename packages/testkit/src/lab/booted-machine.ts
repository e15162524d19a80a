import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Finished, must, run } from '../processes/exec.ts'
import { whenStarted } from '../processes/started.ts'
import { until } from '../until.ts'
import type { Host } from './network.ts'

const PROGRAM = fileURLToPath(new URL('../programs/booted-machine.sh', import.meta.url))
const REPOSITORY = fileURLToPath(new URL('../../../../', import.meta.url))

/** A host of the lab, booted by a real systemd, with its own root and processes and a clone of the repository. */
export interface BootedMachine {
  /** The path of the clone: in a closed home, where many people put it. */
  clone: string
  run(...command: string[]): Promise<Finished>
  must(...command: string[]): Promise<string>
  /** The path of one of its files for the test; it changes with each boot. */
  pathOf(file: string): string
  /** Waits until the boot is complete. */
  reboot(): Promise<void>
  close(): Promise<void>
}

/** How long a command may take there, in ms: an installation may build the console first. */
const PATIENCE = 110_000

export async function bootMachine(host: Host): Promise<BootedMachine> {
  const clone = '/root/postern'
  const dir = mkdtempSync(join(tmpdir(), 'pt-machine-'))
  const own = ['setpriv', '--pdeathsig=TERM', 'unshare', '--mount', '--propagation=private']
  const program = host.start([...own, 'sh', PROGRAM, host.name, dir, REPOSITORY, clone], {
    logFile: `${dir}.log`,
  })
  let init = await whenStarted(program, 'the machine', () => findInit(program.pid))
  const argv = (command: string[]) => enter(init, command)
  return {
    clone,
    run: (...command) => run(argv(command), { timeoutMs: PATIENCE }),
    must: (...command) => must(argv(command), { timeoutMs: PATIENCE }),
    pathOf: (file) => `/proc/${init}/root${file}`,
    async reboot() {
      const before = init
      await run(argv(['systemctl', 'reboot']))
      init = await until('the machine to boot again', async () => {
        const found = await findInit(program.pid)
        return found !== before && found
      })
    },
    async close() {
      await program.stop()
      rmSync(dir, { recursive: true })
      rmSync(`${dir}.log`)
    },
  }
}

/** The pid of the machine's init, once the boot is complete. */
async function findInit(program: number): Promise<number | undefined> {
  const childOf = async (pid: number) => Number((await run(['pgrep', '-P', String(pid)])).stdout)
  const starter = await childOf(program)
  const init = starter && (await childOf(starter))
  if (!init) return undefined
  // Only completion counts: other units of this machine's packages may fail there.
  const { stdout } = await run(enter(init, ['systemctl', 'is-system-running']))
  return /^(running|degraded)$/m.test(stdout) ? init : undefined
}

/** As root's shell there would run it. */
function enter(init: number, command: string[]): string[] {
  const environment = ['env', '-i', 'HOME=/root', `PATH=${process.env.PATH}`]
  return ['nsenter', `--target=${init}`, '--all', ...environment, ...command]
}

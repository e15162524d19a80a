import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { debianArchive } from '../containers/base-image.ts'
import { ROOT } from '../containers/store.ts'
import { type Finished, must, type Running, run, start } from '../processes/exec.ts'
import { whenStarted } from '../processes/started.ts'
import type { Namespace } from './namespace.ts'

const PROGRAM = fileURLToPath(new URL('../programs/fresh-machine.sh', import.meta.url))

/** An empty root of a Debian release, and a machine to run it, one at a time. */
export interface FreshRoot {
  path: string
  /** Node.js and npm as from nodejs.org, in /usr/local. */
  addNode(): Promise<void>
  /** A clone of the repository at its last commit, in /opt/postern. */
  addClone(): Promise<void>
  /** @param network absent: this machine's own, to install packages from */
  boot(network?: Namespace): Promise<FreshMachine>
  remove(): void
}

export interface FreshMachine {
  run(...command: string[]): Promise<Finished>
  must(...command: string[]): Promise<string>
  /** A program that keeps running. */
  start(...command: string[]): Running
  /** The path of one of its files for the test. */
  pathOf(file: string): string
  close(): Promise<void>
}

/** Installing and building may take long. */
const PATIENCE = 900_000

export async function makeFreshRoot(suite: string, packages: readonly string[]): Promise<FreshRoot> {
  const archive = await debianArchive(suite, packages)
  const path = mkdtempSync(join(tmpdir(), `pt-${suite}-`))
  await must(['tar', '-C', path, '-xf', archive], { timeoutMs: PATIENCE })
  // This machine's access to its package sources.
  for (const file of ['/etc/resolv.conf', '/etc/hosts', '/etc/ssl/certs/ca-certificates.crt', npmrc()])
    lend(file, path)
  let boots = 0
  return {
    path,
    async addNode() {
      const npm = (await must(['sh', '-c', 'command -v npm'])).trim()
      const to = join(path, 'usr/local')
      copyFileSync(`${ROOT}node_modules/.bin/node`, join(to, 'bin/node'))
      cpSync(dirname(dirname(realpathSync(npm))), join(to, 'lib/node_modules/npm'), { recursive: true })
      symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(to, 'bin/npm'))
    },
    async addClone() {
      await must(['git', 'clone', '--quiet', '--no-hardlinks', ROOT, join(path, 'opt/postern')], {
        timeoutMs: PATIENCE,
      })
    },
    boot: (network) => boot(path, `${path}-${boots++}.log`, network),
    remove: () => rmSync(path, { recursive: true, force: true }),
  }
}

const npmrc = () => join(homedir(), '.npmrc')

function lend(file: string, root: string): void {
  if (!existsSync(file)) return
  mkdirSync(dirname(join(root, file)), { recursive: true })
  copyFileSync(file, join(root, file))
}

async function boot(root: string, logFile: string, network?: Namespace): Promise<FreshMachine> {
  const own = [
    'unshare',
    '--mount',
    '--propagation=private',
    '--pid',
    '--fork',
    '--kill-child',
    '--uts',
    '--ipc',
  ]
  const argv = [...own, 'sh', PROGRAM, root]
  const program = network ? network.start(argv, { logFile }) : start(argv, { logFile })
  const init = await whenStarted(program, 'the machine', async () => {
    const child = (await run(['pgrep', '-P', String(program.pid)])).stdout.trim()
    const { stdout } = await run(['ps', '-o', 'args=', '-p', child])
    return stdout.startsWith('fresh-init') ? child : undefined
  })
  const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
  const trusted = process.env.NODE_EXTRA_CA_CERTS
  const environment = [
    'HOME=/root',
    `PATH=${path}`,
    'DEBIAN_FRONTEND=noninteractive',
    ...(trusted ? [`NODE_EXTRA_CA_CERTS=${trusted}`] : []),
  ]
  // Each program has its own.
  const logs = [logFile]
  const enter = ['nsenter', `--target=${init}`, '--all', 'env', '-i', ...environment]
  return {
    run: (...command) => run([...enter, ...command], { timeoutMs: PATIENCE }),
    must: (...command) => must([...enter, ...command], { timeoutMs: PATIENCE }),
    start(...command) {
      logs.push(`${logFile}.${logs.length}`)
      return start([...enter, ...command], { logFile: logs.at(-1) ?? logFile })
    },
    pathOf: (file) => `/proc/${init}/root${file}`,
    async close() {
      process.kill(Number(init), 'SIGKILL')
      await program.exited
      for (const file of logs) rmSync(file, { force: true })
    },
  }
}

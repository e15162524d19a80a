import { join } from 'node:path'
import { environmentOf, ROOT } from './environment.ts'
import type { Installation } from './installation.ts'
import { formatLogLine } from './log-line.ts'
import { Program } from './program.ts'
import { asUser, type ProgramView } from './readable-program.ts'

/** As `apps/<name>/build.ts` packs them: they start sooner and need a third less memory than their sources. */
const BUNDLE = { server: 'apps/server/dist/server.mjs', edge: 'apps/edge/dist/edge.mjs' } as const

/** A program that crashes must not leave its secrets on the disk; HAProxy and the tunnel get it from the edge. */
const WITHOUT_CORE = ['prlimit', '--core=0:0', '--']

export type Say = (text: string) => void

/** Starts the server: as its own user when there is one. */
export function startServer(installation: Installation, view: ProgramView, warn: Say): Program {
  const { identities } = installation
  const enter = identities ? [...view.enter, ...asUser(identities.server)] : []
  return startOne('server', installation, [...enter, ...nodeArgv(view.root, 'server')], warn)
}

/** Starts the edge, as root. */
export function startEdge(installation: Installation, warn: Say): Program {
  const argv = ['setpriv', '--pdeathsig=TERM', '--', ...nodeArgv(ROOT, 'edge')]
  return startOne('edge', installation, argv, warn)
}

export function nodeArgv(root: string, program: 'server' | 'edge'): string[] {
  // SIGUSR1 would open a debugger, which reads every secret of the process. Decision 0026 says why the size.
  const flags = ['--disable-sigusr1', '--max-semi-space-size=8']
  return [join(root, 'node_modules/.bin/node'), ...flags, join(root, BUNDLE[program])]
}

function startOne(name: 'server' | 'edge', installation: Installation, argv: string[], warn: Say): Program {
  const { environment, machine } = installation
  return new Program({
    name,
    argv: machine.isLinux ? [...WITHOUT_CORE, ...argv] : argv,
    cwd: '/',
    env: environmentOf(environment, machine),
    onLine(line) {
      const text = formatLogLine(name, line)
      if (text) warn(`${text}\n`)
    },
    onRestart: (_, how, delay) =>
      warn(`postern: the ${name} ended (${how}); it starts again in ${delay / 1000} s\n`),
  })
}

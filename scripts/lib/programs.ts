import { join } from 'node:path'
import { environmentOf, ROOT } from './environment.ts'
import type { Installation } from './installation.ts'
import { formatLogLine } from './log-line.ts'
import { Program } from './program.ts'
import { asUser, type ProgramView } from './readable-program.ts'

const MAIN = { server: 'apps/server/src/main.ts', edge: 'apps/edge/src/main.ts' } as const

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
  return [join(root, 'node_modules/.bin/node'), join(root, MAIN[program])]
}

function startOne(name: 'server' | 'edge', installation: Installation, argv: string[], warn: Say): Program {
  const { environment, machine } = installation
  return new Program({
    name,
    argv,
    cwd: '/',
    env: environmentOf(name, environment, machine),
    onLine(line) {
      const text = formatLogLine(name, line)
      if (text) warn(`${text}\n`)
    },
    onRestart: (_, how, delay) =>
      warn(`postern: the ${name} ended (${how}); it starts again in ${Math.ceil(delay / 1000)} s\n`),
  })
}

import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { CreatedApiToken } from '@postern/contract/api-tokens'
import { type Finished, run } from '@postern/testkit/processes/exec'
import { tempDir } from '@postern/testkit/temp-dir'
import { startSite } from '../harness.ts'
import { startOnTerminal, type Terminal } from './terminal.ts'

/** The system's Node, which is older than ours, runs the file that people install. */
export const NODE =
  process.env.POSTERN_TEST_NODE ?? (existsSync('/usr/bin/node') ? '/usr/bin/node' : process.execPath)
export const COMMAND = fileURLToPath(new URL('../../../apps/agent/dist/postern.mjs', import.meta.url))

/** The built command of a person without root, beside the real server. */
export async function startCommandLab() {
  const site = await startSite({ POSTERN_PORT_RANGE: '32660-32679' })
  const home = tempDir()
  const postern = (args: readonly string[], { input = '', env = {} as Record<string, string> } = {}) => {
    const variables = Object.entries({ HOME: home, ...env }).map(([name, value]) => `${name}=${value}`)
    return run(['env', '-i', `PATH=${process.env.PATH}`, ...variables, NODE, COMMAND, ...args], { input })
  }
  const terminals: Terminal[] = []
  return {
    site,
    home,
    postern,
    /** The same on a terminal; it goes on. */
    type(...args: string[]): Terminal {
      const terminal = startOnTerminal([NODE, COMMAND, ...args], { HOME: home })
      terminals.push(terminal)
      return terminal
    },
    /** A new token of the account. */
    async makeToken(form: object = {}): Promise<CreatedApiToken> {
      const body = { name: 'command', role: 'admin', password: site.password, ...form }
      // `call` checks it against the contract.
      return (await site.api.call('POST', '/api/tokens', body)).json as CreatedApiToken
    },
    /** Runs it, must succeed without complaints. @returns what it prints */
    async must(...args: string[]): Promise<string> {
      const { code, stdout, stderr }: Finished = await postern(args)
      if (code !== 0 || stderr !== '')
        throw new Error(`postern ${args.join(' ')}: ${code}: ${stderr || stdout}`)
      return stdout
    },
    async close() {
      await Promise.all(terminals.map((each) => each.close()))
      await site.close()
    },
  }
}

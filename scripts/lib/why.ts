import { request } from 'node:http'
import { parseArgs } from 'node:util'
import { endpoints } from '@postern/contract/endpoints/endpoints'
import { ErrorBody } from '@postern/contract/errors'
import { installationPaths } from '@postern/contract/installation'
import { findTracedAddress } from '@postern/contract/why/address'
import { renderWhy, Why } from '@postern/contract/why/why'
import { messageOf } from '@postern/host/errors'
import { UsageError } from '@postern/host/flags'
import { readToken } from '../../apps/edge/src/link/server-token.ts'
import { CommandError } from './command.ts'
import { type Environment, readSettings } from './environment.ts'
import { observeMachine } from './machine.ts'
import { readUnitSettings } from './programs/systemd.ts'

export const WHY_USAGE =
  'give one address, like https://app.example.com/path; --visitor IP judges IP lists by that one'

const TIMEOUT_MS = 30_000
const MAX_BYTES = 256 * 1024

/**
 * Asks the server that runs here where visitors of an address stop, as root, who can read the edge's token.
 * @returns 0 only when they get an answer
 */
export async function showWhy(own: Environment, args: readonly string[]): Promise<number> {
  const { address, visitor, json } = readOptions(args)
  const machine = observeMachine()
  const settings = readSettings(machine.isRoot ? { ...readUnitSettings(), ...own } : own, machine)
  const { serverSocket, edgeToken } = installationPaths(settings.POSTERN_DATA_DIR)
  const token = await readToken({ socketPath: serverSocket, tokenFile: edgeToken }).catch(
    (error: unknown) => {
      throw new CommandError(`the server cannot be asked: ${messageOf(error)} Start it first, and use sudo`)
    },
  )
  const found = await ask(serverSocket, token, { address, visitor })
  process.stdout.write(`${json ? JSON.stringify(found) : renderWhy(found)}\n`)
  return found.state === 'works' ? 0 : 1
}

function readOptions(args: readonly string[]) {
  const { values, positionals } = parse(args)
  const [address, other] = positionals
  if (address === undefined || other !== undefined || !findTracedAddress(address))
    throw new UsageError(WHY_USAGE)
  return { address, visitor: values.visitor ?? null, json: values.json === true }
}

function parse(args: readonly string[]) {
  const options = { visitor: { type: 'string' }, json: { type: 'boolean' } } as const
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true })
  } catch (error) {
    throw new UsageError(`${messageOf(error)}: ${WHY_USAGE}`)
  }
}

async function ask(socketPath: string, token: string, form: object): Promise<Why> {
  const { method, path } = endpoints.edgeWhy
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const text = await new Promise<string>((resolve, reject) => {
    const asking = request({ socketPath, method, path, headers, signal, agent: false }, (answer) => {
      let body = ''
      answer.setEncoding('utf8').on('data', (chunk: string) => {
        body += chunk
        if (body.length > MAX_BYTES) asking.destroy(new CommandError('the answer of the server is too long'))
      })
      answer.on('end', () => resolve(body)).on('error', reject)
    })
    asking.on('error', reject).end(JSON.stringify(form))
  })
  const json: unknown = JSON.parse(text)
  const found = Why.safeParse(json)
  if (found.success) return found.data
  const refusal = ErrorBody.safeParse(json)
  const words = refusal.data?.errors?.map(({ message }) => message).join(' ') ?? refusal.data?.message
  throw new CommandError(words ?? 'the server does not answer as expected')
}

import { readFile } from 'node:fs/promises'
import { messageOf } from '@postern/host/errors'
import { AgentError } from '../errors.ts'
import { type Api, openApi } from '../operator/api.ts'
import { carryOut, readCurrent } from '../operator/carry-out.ts'
import { renderManifest } from '../operator/export.ts'
import { parseManifest } from '../operator/manifest.ts'
import { makePlan, type Plan, renderPlan } from '../operator/plan.ts'
import { SERVER_OPTION, serverNameOf } from '../operator/servers.ts'
import { type Call, defineCommand, findText, type Values } from './command.ts'

const MOST_BYTES = 4 * 1024 * 1024
const FILE = 'postern.yaml'

const OPTIONS = { ...SERVER_OPTION, prune: { type: 'boolean' } } as const
const parseFile = (values: Values) => ({
  file: findText(values, 'file') ?? FILE,
  isPruning: values.prune === true,
  server: serverNameOf(values),
})

interface Asked {
  file: string
  isPruning: boolean
}

/** The whole file is read and checked before the server is asked anything. */
async function plan(
  call: Call,
  open: () => Promise<Api>,
  { file, isPruning }: Asked,
): Promise<Plan & { api: Api }> {
  const manifest = parseManifest(await readText(call, file), file === '-' ? 'standard input' : file)
  const api = await open()
  return { api, ...makePlan(manifest, await readCurrent(api), isPruning) }
}

async function readText({ context }: Call, file: string): Promise<string> {
  try {
    return file === '-' ? await context.io.readInput(MOST_BYTES) : await readFile(file, 'utf8')
  } catch (error) {
    throw new AgentError('usage', `Cannot read ${file}: ${messageOf(error)}`)
  }
}

function show({ context, json }: Call, found: Plan): void {
  if (json) context.io.out(JSON.stringify({ steps: found.steps, kept: found.kept }))
  else for (const line of renderPlan(found)) context.io.out(line)
}

const HELP = `The file, ${FILE} unless another one or - is named, has lists of nodes, domains and
services, with the fields of the console's forms. What it does not name stays as it is.`

export const diff = defineCommand({
  summary: 'show what apply would change',
  help: `Usage: postern diff [FILE] [--prune] [--json]

${HELP}
The exit code is 0 when the server is as the file says, and 19 when it is not.

  --prune         also what the file does not have, of the kinds that it lists
  --server NAME   another server than the one signed in to last
  --json          print one JSON object instead of text`,
  options: OPTIONS,
  argument: 'file',
  parse: parseFile,
  async run(call, asked) {
    const found = await plan(call, () => openApi(call, asked.server), asked)
    show(call, found)
    return found.steps.length === 0 ? 'ok' : 'different'
  },
})

export const apply = defineCommand({
  summary: 'make nodes, domains and services as a file says',
  help: `Usage: postern apply [FILE] [--prune] [--yes] [--json]

${HELP}
Shows what it would do, and asks before it does it.

  --prune         delete what the file does not have, of the kinds that it lists
  --yes           do not ask
  --server NAME   another server than the one signed in to last
  --json          print one JSON object instead of text; needs --yes`,
  options: { ...OPTIONS, yes: { type: 'boolean' } },
  argument: 'file',
  parse: (values) => ({ ...parseFile(values), isSure: values.yes === true }),
  async run(call, { isSure, ...asked }) {
    const { io } = call.context
    const ask = call.json || asked.file === '-' ? undefined : io.ask
    if (!isSure && !ask)
      throw new AgentError('usage', 'Nobody can be asked here: look with postern diff, then add --yes')
    const found = await plan(call, () => openApi(call, asked.server), asked)
    show(call, found)
    const count = found.steps.length
    if (count === 0) {
      if (!call.json) io.out('Nothing to do')
      return 'ok'
    }
    if (!isSure && !(await ask?.(`Do this? [y/N] `))) throw new AgentError('different', 'Nothing was changed')
    await carryOut(found.api, found.steps, () => undefined)
    if (!call.json) io.out(count === 1 ? 'Done: 1 change' : `Done: ${count} changes`)
    return 'ok'
  },
})

const exported = defineCommand({
  summary: 'print nodes, domains and services as a file for apply',
  help: `Usage: postern export > ${FILE}

Prints what the server has and a file can say. Not in it are the console, what agents
publish, and anything secret.

  --server NAME   another server than the one signed in to last
  --json          print one JSON object with the records as the API has them`,
  options: SERVER_OPTION,
  parse: serverNameOf,
  async run(call, server) {
    const current = await readCurrent(await openApi(call, server))
    call.context.io.out(call.json ? JSON.stringify(current) : renderManifest(current).trimEnd())
    return 'ok'
  },
})

export { exported as export }

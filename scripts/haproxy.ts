import { messageOf } from '@postern/host/errors'
import { readFlags } from '@postern/host/flags'
import { StepError } from './bootstrap/step.mjs'
import { updateHaproxy } from './bootstrap/system-packages.mjs'
import { CommandError, runCommand } from './lib/command.ts'

/** Run by the timer beside the edge's unit: fetches a newer HAProxy, and logs that to the journal. */
await runCommand(async (args) => {
  readFlags([], args)
  const version = await updateHaproxy().catch((error: unknown) => {
    throw error instanceof StepError ? new CommandError(messageOf(error)) : error
  })
  if (version !== undefined)
    process.stdout.write(`HAProxy ${version} is installed; the edge hands over to it.\n`)
  return 0
})

import { runCommand } from './lib/command.ts'
import { verifyHistory } from './lib/server-tool.ts'

/** `npm run history -- verify` says whether the history is as it was written; an export's hash may follow. */
await runCommand((args) => verifyHistory(process.env, args))

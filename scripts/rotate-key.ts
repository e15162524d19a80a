import { readFlags } from '@postern/host/flags'
import { runCommand } from './lib/command.ts'
import { rotateKey } from './lib/server-tool.ts'

/** `npm run rotate-key` */
await runCommand((args) => {
  readFlags([], args)
  return rotateKey(process.env)
})

import { readFlags } from '@postern/host/flags'
import { runCommand } from './lib/command.ts'
import { rotateKey } from './lib/server-tool.ts'

/** `npm run rotate-key`, and with `-- --all` everything that the old key opened is renewed as well. */
await runCommand((args) => rotateKey(process.env, [...readFlags(['--all'], args)]))

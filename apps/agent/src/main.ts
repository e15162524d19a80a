import { realpathSync } from 'node:fs'
import { start } from './start.ts'

void start([...process.execArgv, realpathSync(process.argv[1] ?? '')])

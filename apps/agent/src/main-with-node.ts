import { start } from './start.ts'

/** The entry of the agent with Node inside, which is started by its own name. */
void start([])

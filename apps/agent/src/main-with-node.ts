import { start } from './start.ts'

/** The first file of the agent that has Node inside: it is started by its own name alone. */
void start([])

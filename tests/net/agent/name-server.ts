import { startNameServer } from '@postern/testkit/fakes/name-server'

/** A name server that knows `printer.lan` (192.168.77.20) and answers that no other name exists. */

const [, , host = ''] = process.argv
const server = await startNameServer({ host, port: 53 })
server.answers.set('printer.lan', ['192.168.77.20'])

import { startNameServer } from '@postern/testkit/name-server'

/** A name server that knows `printer.lan` (192.168.77.20) and says of everything else that it does not exist. */

const [, , host = ''] = process.argv
const server = await startNameServer({ host, port: 53 })
server.answers.set('printer.lan', ['192.168.77.20'])

import { createSocket } from 'node:dgram'

/** A name server that knows `printer.lan` (192.168.77.20) and says of everything else that it does not exist. */

const [, , address = ''] = process.argv
const server = createSocket('udp4')
server.on('message', (query, from) => {
  const end = query.indexOf(0, 12) + 5
  const isKnown = query.subarray(12, end).includes('\x07printer\x03lan')
  const header = Buffer.from(query.subarray(0, 12))
  header.writeUInt16BE(isKnown ? 0x8180 : 0x8183, 2)
  header.writeUInt16BE(1, 4)
  header.writeUInt16BE(isKnown ? 1 : 0, 6)
  header.writeUInt32BE(0, 8)
  const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 5, 0, 4, 192, 168, 77, 20])
  server.send(
    Buffer.concat([header, query.subarray(12, end), ...(isKnown ? [record] : [])]),
    from.port,
    from.address,
  )
})
server.bind(53, address)

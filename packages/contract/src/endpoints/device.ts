import { ApiToken } from '../api-tokens.ts'
import {
  DeviceApproval,
  DeviceCodes,
  DevicePoll,
  DeviceProgress,
  DeviceRequest,
  DeviceStart,
  UserCode,
} from '../sign-in/device.ts'
import { type Endpoint, inPerson, nothing } from './endpoint.ts'

/** A command that asks for a token, and the person who gives it one in a browser. */
export const device = {
  beginDevice: {
    method: 'POST',
    path: '/api/auth/device',
    noun: 'Token',
    auth: 'none',
    body: DeviceStart,
    answer: DeviceCodes,
  },
  /** Each ask is one poll of the protocol. */
  pollDevice: {
    method: 'POST',
    path: '/api/auth/device/poll',
    noun: 'Token',
    auth: 'none',
    body: DevicePoll,
    answer: DeviceProgress,
  },
  /** With the code in the body: addresses are logged. */
  readDevice: {
    method: 'POST',
    path: '/api/auth/device/read',
    noun: 'Token',
    ...inPerson,
    body: UserCode,
    answer: DeviceRequest,
  },
  /** Makes the token, which only the command gets. */
  approveDevice: {
    method: 'POST',
    path: '/api/auth/device/approve',
    noun: 'Token',
    ...inPerson,
    body: DeviceApproval,
    answer: ApiToken,
    status: 201,
  },
  denyDevice: {
    method: 'POST',
    path: '/api/auth/device/deny',
    noun: 'Token',
    ...inPerson,
    body: UserCode,
    answer: nothing,
  },
} as const satisfies Record<string, Endpoint>

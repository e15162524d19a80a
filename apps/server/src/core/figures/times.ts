/** In ms. */
export const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000] as const

/** How long minutes and hours are kept. */
export const [KEPT_HOURS, KEPT_DAYS] = [24, 30] as const

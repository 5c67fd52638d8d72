/** The test function of this suite: a hermetic place and a screen for each test, faults of the page told at the end. */
import { test as base, expect } from "@playwright/test";
import { Place } from "./place";
import { Screen } from "./screen";

export const test = base.extend<{ place: Place; app: Screen }>({
  place: async ({}, use) => {
    const place = new Place();
    await use(place);
    await place.close();
  },
  app: async ({ page }, use) => {
    const app = new Screen(page);
    await use(app);
    expect(app.faults, "the page reported errors").toEqual([]);
  },
});

export { expect };

/** What happy-dom lacks and a rendered component asks for. */
import { afterEach } from "vitest";
import { cleanup } from "@testing-library/react";

afterEach(() => cleanup());

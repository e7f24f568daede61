// Expectations about Error: its exit code and a part of its one-line message.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "base/error.h"

namespace kindred {

inline void ExpectError(ExitCode code, const std::string& part,
                        const std::function<void()>& action) {
  try {
    action();
    ADD_FAILURE() << "no error; expected one with \"" << part << "\"";
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_EQ(static_cast<int>(error.code()), static_cast<int>(code)) << message;
    EXPECT_NE(message.find(part), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

}  // namespace kindred
